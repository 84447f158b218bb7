"""Rounds of policies that play couples by optimism: eight runs at a time, or a single one."""

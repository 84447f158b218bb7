"""Rounds of index policies on any problem: one loop, and the choice that `select` makes as well."""

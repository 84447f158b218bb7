"""Sums over links of a table of the arms at both ends: what cuts, optima and policies share."""

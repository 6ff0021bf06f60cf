"""Operators and statistics on nominal data, through a taxonomy and a distance."""

"""Compiled loops: arrays in, arrays out. Nothing here knows tables, names or files."""

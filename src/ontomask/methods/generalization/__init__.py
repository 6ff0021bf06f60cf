"""Generalization: hierarchies, the lattice of all level combinations, and searches through it."""

"""Masking methods: one per file, one registry."""

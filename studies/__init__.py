"""The literature, repeated on public data: one runnable study per paper.

    python -m studies [NAME …] --data FOLDER [--out docs/studies] [--small]

FOLDER holds `tables/`; the environment variable ONTOMASK_DATA can name it instead.
"""

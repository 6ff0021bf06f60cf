"""`python -m ontomask.cli`: the command line where its script is not on the path."""

from __future__ import annotations

from ontomask.cli.app import main

if __name__ == "__main__":  # documentation tools import every module
    main()

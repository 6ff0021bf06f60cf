"""What an installation without extras weighs: each package that is needed, and all of them.

Compiled Python files are counted, since pip writes them, but not what kernels leave when they are
compiled.

    python benchmarks/installed_size.py [--shown 10]
"""

from __future__ import annotations

import argparse
import importlib.metadata as metadata
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from arguments import whole_number

ROOT = Path(__file__).parent.parent


def sizes() -> dict[str, int]:
    """The bytes of every package that an installation without extras brings, and of our own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, int] = {}
    _add(project["dependencies"], found)
    own = [one for one in (ROOT / "src").rglob("*") if "__pycache__" not in one.parts]
    return found | {project["name"]: _weight(own)}


def _add(requirements: Iterable[str], found: dict[str, int]) -> None:
    for requirement in requirements:
        name = re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-")
        if name in found or "extra ==" in requirement:
            continue
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for other systems, or other Pythons
            continue
        found[name] = _weight(Path(str(one.locate())) for one in package.files or [])
        _add(package.requires or [], found)


def _weight(files: Iterable[Path]) -> int:
    return sum(one.stat().st_size for one in files if one.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shown", type=whole_number, default=10, help="the largest packages")
    shown = parser.parse_args().shown
    found = sizes()
    for name, size in sorted(found.items(), key=lambda one: -one[1])[:shown]:
        print(f"{name:28}{size / 1e6:8.1f} MB")
    print(f"{f'all {len(found)}':28}{sum(found.values()) / 1e6:8.1f} MB")


if __name__ == "__main__":
    main()

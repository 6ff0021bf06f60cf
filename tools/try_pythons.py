"""Build the wheel and the sdist, and run the tests on the wheel with other Pythons.

``python tools/try_pythons.py python3.12 python3.13 -- tests/every_method`` makes an environment for
each interpreter, installs the wheel with all extras into it, and runs the tests there; without
names it tries those of `PYTHONS` that are found. The sdist is built into a wheel once more.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist that it was made from, which was made from the tree."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    print(f"{wheel.name} {wheel.stat().st_size:,} bytes, {sdist.name} {sdist.stat().st_size:,}")
    return wheel, sdist


def tried(python: str, wheel: Path, sdist: Path, folder: Path, arguments: list[str]) -> bool:
    """Whether the tests of the sdist pass on an interpreter, where there is only the wheel."""
    run(python, "-m", "venv", folder / "env")
    own = folder / "env" / "bin" / "python"
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    run(own, "-m", "pip", "install", "--quiet", f"{wheel}[all]", *groups["dev"])
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.glob("ontomask-*")
    shutil.rmtree(unpacked / "src")
    command = [str(own), "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=unpacked, check=False).returncode == 0


def run(*command: object) -> None:
    """Run a command that must succeed."""
    subprocess.run([str(one) for one in command], check=True)


def main(arguments: list[str]) -> int:
    """Try every interpreter and say what came out."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    names = arguments[:place] or [one for one in PYTHONS if shutil.which(one)]
    with tempfile.TemporaryDirectory() as made:
        wheel, sdist = built(Path(made))
        results = {}
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                results[name] = tried(name, wheel, sdist, Path(folder), arguments[place + 1 :])
    for name, passed in results.items():
        print(name, "passed" if passed else "FAILED")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

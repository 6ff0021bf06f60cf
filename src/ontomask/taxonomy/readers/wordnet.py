"""WordNet's own files (`data.noun`, `index.noun`): the nouns and their hypernyms.

* Concepts are the synsets, called as NLTK calls them: first word in lower case, `n`, and which
  sense of that word it is (`entity.n.01`).
* The label is the first word, with spaces for underscores; the other words are the synonyms. Each
  word comes with the rank of this sense among its senses (1 = the most frequent).
* Links are hypernyms (`@`) and instance hypernyms (`@i`).

The source is the `dict` folder, a folder that holds it, its `data.noun`, or a tar (`.tar`,
`.tar.gz`, `.tgz`) with both files; nothing is extracted to disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ontomask.errors import FormatError, SourceNotFoundError
from ontomask.taxonomy.draft import Draft, Reader, place
from ontomask.taxonomy.readers.sources import decode, read_bytes, read_tar

__all__ = ["READER"]

DATA, INDEX = "data.noun", "index.noun"
HYPERNYMS = {"@", "@i"}
VERSION = re.compile(r"^ +\d+ WordNet (\S+) Copyright", re.MULTILINE)
TAR_MAGIC = slice(257, 262)

Senses = dict[str, list[str]]


@dataclass(frozen=True)
class _Synset:
    """One line of the data file."""

    line: int
    offset: str
    words: list[str]
    hypernyms: list[str]
    gloss: str


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Tell whether the path is a folder with the noun files, the data file itself, or a tar."""
    if path.is_dir():
        return _data_file(path) is not None
    return path.name.lower() == DATA or first_bytes[TAR_MAGIC] == b"ustar"


def read(path: Path) -> Draft:
    """Read the nouns of a WordNet."""
    data, index = _texts(path)
    draft = Draft(str(path))
    version = VERSION.search(data[:4096])
    draft.version = version.group(1) if version else ""
    senses = _senses(index, draft.source)
    ids: dict[str, str] = {}
    links: list[tuple[str, str, int]] = []
    for synset in _synsets(data, f"{draft.source}:{DATA}"):
        ranks = _ranks(synset, senses, draft.source)
        identifier = f"{synset.words[0].lower()}.n.{ranks[0]:02d}"
        ids[synset.offset] = identifier
        links.extend((identifier, hypernym, synset.line) for hypernym in synset.hypernyms)
        label, *synonyms = (word.replace("_", " ") for word in synset.words)
        draft.add_concept(
            identifier,
            label,
            synonyms=synonyms,
            gloss=synset.gloss,
            line=synset.line,
            label_rank=ranks[0],
            synonym_ranks=ranks[1:],
        )
    for child, offset, line in links:
        if offset not in ids:
            raise FormatError(
                f"{draft.source}:{DATA}, line {line}: the hypernym {offset} of {child!r} is no "
                "synset of the file; fetch the file again from its publisher."
            )
        draft.add_link(child, ids[offset], line)
    return draft


def _texts(path: Path) -> tuple[str, str]:
    """Return the texts of the data file and of the index."""
    data_file = _data_file(path) if path.is_dir() else path
    if data_file is not None and data_file.name.lower() == DATA:
        index_file = data_file.with_name(INDEX)
        return (
            decode(read_bytes(data_file), str(data_file)),
            decode(read_bytes(index_file), str(index_file)),
        )
    if data_file is None:
        raise SourceNotFoundError(f"The folder {str(path)!r} holds no {DATA} with its {INDEX}.")
    members = read_tar(path, {DATA, INDEX})
    return _only(members, DATA, path), _only(members, INDEX, path)


def _data_file(folder: Path) -> Path | None:
    for candidate in (folder / DATA, folder / "dict" / DATA):
        if candidate.is_file() and candidate.with_name(INDEX).is_file():
            return candidate
    return None


def _only(members: dict[str, bytes], name: str, path: Path) -> str:
    found = [member for member in members if member.rpartition("/")[2] == name]
    if len(found) != 1:
        raise FormatError(
            f"{path} holds {len(found)} files {name}; an archive of WordNet holds one {DATA} and "
            f"one {INDEX}."
        )
    return decode(members[found[0]], f"{path}:{found[0]}")


def _entries(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines after the license, whose lines begin with spaces."""
    for line, entry in enumerate(text.split("\n"), start=1):
        if entry and not entry.startswith(" ") and entry.strip():
            yield line, entry


def _senses(index: str, source: str) -> Senses:
    """Return the synset offsets of every lemma, the most frequent sense first."""
    senses: Senses = {}
    for line, entry in _entries(index):
        fields = entry.split()
        try:
            count = int(fields[2])
            senses[fields[0]] = fields[-count:]
        except (IndexError, ValueError):
            raise _malformed(f"{source}:{INDEX}", line) from None
    return senses


def _synsets(data: str, source: str) -> Iterator[_Synset]:
    for line, entry in _entries(data):
        fields, _, gloss = entry.partition("|")
        try:
            yield _synset(line, fields.split(" "), gloss.strip())
        except (IndexError, ValueError):
            raise _malformed(source, line) from None


def _synset(line: int, fields: list[str], gloss: str) -> _Synset:
    """Take a line apart: offset, file, type, words (counted in hexadecimal), pointers."""
    end_of_words = 4 + 2 * int(fields[3], 16)
    count = int(fields[end_of_words])
    pointers = fields[end_of_words + 1 : end_of_words + 1 + 4 * count]
    if len(pointers) < 4 * count or end_of_words == 4:
        raise IndexError
    symbols_and_offsets = zip(pointers[0::4], pointers[1::4], strict=True)
    hypernyms = [offset for symbol, offset in symbols_and_offsets if symbol in HYPERNYMS]
    return _Synset(line, fields[0], fields[4:end_of_words:2], hypernyms, gloss)


def _ranks(synset: _Synset, senses: Senses, source: str) -> list[int]:
    """Return which sense of each of its words the synset is."""
    try:
        return [senses[word.lower()].index(synset.offset) + 1 for word in synset.words]
    except (KeyError, ValueError):
        raise FormatError(
            f"{source}:{DATA}, line {synset.line}: {INDEX} does not list the synset "
            f"{synset.offset} under all of its words ({', '.join(synset.words)}); take both "
            "files from the same release."
        ) from None


def _malformed(source: str, line: int) -> FormatError:
    return FormatError(
        f"{place(source, line)}: the line is not built as WordNet's files are (see its manual "
        "page wndb); fetch the file again from its publisher."
    )


READER = Reader("wordnet", can_read, read)

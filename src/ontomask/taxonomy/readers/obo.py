"""OBO 1.2 and 1.4, read leniently: real files break the grammar in places that do not matter here.

* Terms are concepts: `name` is the label, `def` the gloss, synonyms of every scope and `alt_id`
  the synonyms, `is_a` the links. Several stanzas with one id are united. Instances hang below
  their class (`instance_of`). Typedefs and unknown stanzas are skipped.
* Obsolete and anonymous terms are left out, together with their own links. A link up to an
  anonymous term is dropped: it names nothing that a person could be told.
* A link up to an obsolete term, or to one without a stanza, is an error, for dropping it silently
  would move a concept to the top. Files cut out of a larger ontology have such links by design;
  `unknown_parents="drop"` reads those.
* Trailing modifiers (`{...}`), comments (`!`), escapes, continued lines, CRLF, quotation marks
  left unescaped inside a quoted text and the synonym tags of OBO 1.0 are understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ontomask.checks import Choice, check
from ontomask.errors import FormatError, UnknownParentError
from ontomask.taxonomy.draft import Draft, Reader, place
from ontomask.taxonomy.readers.separated import plain_suffix
from ontomask.taxonomy.readers.sources import numbered_lines

__all__ = ["READER"]

LINK_TAGS = {"Term": "is_a", "Instance": "instance_of"}
"""The stanzas that make concepts, and the tag that links each to what is above it."""

SYNONYM_TAGS = {
    "synonym",
    "exact_synonym",
    "broad_synonym",
    "narrow_synonym",
    "related_synonym",
}

TOKEN = re.compile(r"(?:\\.|[^\s\\])+")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?=$|[A-Z\[{!])')
LOOSELY_QUOTED = re.compile(r'"(.*)"\s*(?:[A-Z]\S*\s+)*(?=$|[\[{!])')
COMMENT = re.compile(r"(?<!\\)\s!.*$")
MODIFIERS = re.compile(r"\s\{[^{}]*=[^{}]*\}\s*$")
ESCAPE = re.compile(r"\\(.)")
ESCAPED = {"n": "\n", "t": "\t", "W": " "}
FIRST_STANZA = re.compile(rb"^\[(Term|Typedef|Instance)\]\s*$", re.MULTILINE)

UnknownParents = Literal["error", "drop"]


@dataclass
class _Stanza:
    """One stanza as it stands in the file; filled while its lines are read."""

    kind: str
    line: int
    identifier: str = ""
    name: str = ""
    gloss: str = ""
    synonyms: list[str] = field(default_factory=list)
    links: list[tuple[str, int]] = field(default_factory=list)
    is_obsolete: bool = False
    is_anonymous: bool = False


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Tell whether the file is called `.obo` or begins like one."""
    if plain_suffix(path) == ".obo":
        return True
    begins = first_bytes.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"format-version:")
    return begins or FIRST_STANZA.search(first_bytes) is not None


def read(path: Path, *, unknown_parents: UnknownParents = "error") -> Draft:
    """Read an OBO file.

    Parameters
    ----------
    path
        The file, plain or gzip.
    unknown_parents
        What to do with a link up to a term that is obsolete or has no stanza: an error, or
        drop the link.
    """
    check("unknown_parents", unknown_parents, Choice("error", "drop"))
    draft = Draft(str(path))
    stanzas = _stanzas(path, draft)
    obsolete = {stanza.identifier for stanza in stanzas if stanza.is_obsolete}
    anonymous = {stanza.identifier for stanza in stanzas if stanza.is_anonymous}
    live = [each for each in stanzas if each.identifier not in obsolete | anonymous]
    for stanza in live:
        draft.add_concept(
            stanza.identifier,
            stanza.name,
            synonyms=dict.fromkeys(stanza.synonyms),
            gloss=stanza.gloss,
            line=stanza.line,
        )
    for stanza in live:
        for parent, line in stanza.links:
            if parent in draft.positions:
                draft.add_link(stanza.identifier, parent, line)
            elif unknown_parents == "error" and parent not in anonymous:
                raise _unknown_parent(draft, stanza, parent, line, parent in obsolete)
    return draft


def _unknown_parent(
    draft: Draft, stanza: _Stanza, parent: str, line: int, is_obsolete: bool
) -> UnknownParentError:
    reason = "which is obsolete" if is_obsolete else "which has no stanza in the file"
    return UnknownParentError(
        f"{place(draft.source, line)}: {stanza.identifier!r} is said to be a {parent!r}, {reason}; "
        "correct the link, or read the file with unknown_parents='drop' to leave such links out."
    )


def _stanzas(path: Path, draft: Draft) -> list[_Stanza]:
    """Return the terms and instances; the header's version goes into the draft."""
    stanzas: list[_Stanza] = []
    current = _Stanza("header", 1)
    for line, text in _logical_lines(path):
        if text.startswith("[") and text.rstrip().endswith("]"):
            _check_identified(current, draft)
            current = _Stanza(text.strip()[1:-1], line)
            if current.kind in LINK_TAGS:
                stanzas.append(current)
            continue
        tag, colon, value = text.partition(":")
        if not colon:
            raise FormatError(
                f"{place(draft.source, line)}: {_shortened(text)!r} is neither a stanza such as "
                "[Term] nor a 'tag: value' pair; correct the line, or check that this is an OBO "
                "file."
            )
        if current.kind in LINK_TAGS:
            _take(current, tag.strip(), value.strip(), line)
        elif current.kind == "header" and tag.strip() == "data-version":
            draft.version = _plain(value)
    _check_identified(current, draft)
    return stanzas


def _logical_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, continued ones joined under their first number."""
    first, parts = 0, list[str]()
    for line, text in numbered_lines(path):
        first = first if parts else line
        stripped = text.rstrip()
        backslashes = len(stripped) - len(stripped.rstrip("\\"))
        if backslashes % 2:
            parts.append(stripped[:-1])
            continue
        joined = "".join([*parts, text]).strip()
        parts = []
        if joined and not joined.startswith("!"):
            yield first, joined
    if parts:
        yield first, "".join(parts).strip()


def _check_identified(stanza: _Stanza, draft: Draft) -> None:
    if stanza.kind in LINK_TAGS and not stanza.identifier:
        raise FormatError(
            f"{place(draft.source, stanza.line)}: the stanza [{stanza.kind}] has no id; "
            "add an 'id:' line to it."
        )


def _take(stanza: _Stanza, tag: str, value: str, line: int) -> None:
    """Keep what a tag says about the concept; most tags are about other things."""
    if tag == "id":
        stanza.identifier = _token(value)
    elif tag == "name":
        stanza.name = _plain(value)
    elif tag == "def":
        stanza.gloss = _quoted(value)
    elif tag in SYNONYM_TAGS:
        stanza.synonyms.append(_quoted(value))
    elif tag == "alt_id":
        stanza.synonyms.append(_token(value))
    elif tag == LINK_TAGS[stanza.kind]:
        stanza.links.append((_token(value), line))
    elif tag == "is_obsolete":
        stanza.is_obsolete = _token(value).lower() == "true"
    elif tag == "is_anonymous":
        stanza.is_anonymous = _token(value).lower() == "true"


def _token(value: str) -> str:
    """Return an id: what stands before the first space, modifier or comment."""
    match = TOKEN.match(value.strip())
    return _unescaped(match.group()) if match else ""


def _plain(value: str) -> str:
    """Return an unquoted text without its comment and modifiers."""
    return _unescaped(MODIFIERS.sub("", COMMENT.sub("", value))).strip()


def _quoted(value: str) -> str:
    """Return the quoted text, or the value itself where the quotation marks were forgotten."""
    match = QUOTED.match(value) or LOOSELY_QUOTED.match(value)
    return _unescaped(match.group(1)).strip() if match else _plain(value.partition(" [")[0])


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return ESCAPE.sub(lambda match: ESCAPED.get(match.group(1), match.group(1)), text)


def _shortened(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


READER = Reader("obo", can_read, read)

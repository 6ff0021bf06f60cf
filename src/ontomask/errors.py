"""Every exception that ontomask raises on purpose.

::

    OntomaskError
    ├── ParameterError               a parameter has a value that is not allowed   (ValueError)
    ├── DependencyError              an optional package is needed and missing     (ImportError)
    ├── SchemaError                  the schema does not fit the table, or itself  (ValueError)
    ├── DataError                    the table holds what cannot be worked with    (ValueError)
    ├── MethodError                  a method cannot do what it is asked for here  (ValueError)
    ├── PlanError                    a plan has problems, all of them listed       (ValueError)
    ├── OutputError                  what a run writes cannot be put in its place  (OSError)
    ├── ShortMemoryError             something would not fit into the memory left  (MemoryError)
    ├── PromiseError                 a release does not keep what its method promised
    ├── CancelledError               the run was stopped on request
    └── TaxonomyError                something is wrong with a taxonomy
        ├── SourceError              the source cannot be read at all
        │   ├── SourceNotFoundError  there is no such file or bundled name (FileNotFoundError)
        │   ├── FormatError          the content is not what the format demands
        │   ├── EncodingError        the content is not UTF-8 text
        │   └── UnsafeSourceError    the source tries something a data file must not do
        ├── StructureError           the concepts and links do not form a taxonomy
        │   ├── EmptyTaxonomyError   there is no concept
        │   ├── CycleError           a concept is its own ancestor
        │   ├── UnknownParentError   a link points to a concept that is not defined
        │   ├── DuplicateConceptError one id, two different labels
        │   └── SeveralRootsError    more than one root where only one is allowed
        ├── UnknownConceptError      a concept that the taxonomy does not hold (KeyError)
        └── UnmappedValuesError      values of a column have no concept

    OntomaskWarning                  something that works, but perhaps not as meant (UserWarning)

Every message is one sentence (or a short list of them) that says where, what was wrong, what
is allowed and what to do; it can be shown to a person as it is.
"""

from __future__ import annotations

__all__ = [
    "CancelledError",
    "CycleError",
    "DataError",
    "DependencyError",
    "DuplicateConceptError",
    "EmptyTaxonomyError",
    "EncodingError",
    "FormatError",
    "MethodError",
    "OntomaskError",
    "OntomaskWarning",
    "OutputError",
    "ParameterError",
    "PlanError",
    "PromiseError",
    "SchemaError",
    "SeveralRootsError",
    "ShortMemoryError",
    "SourceError",
    "SourceNotFoundError",
    "StructureError",
    "TaxonomyError",
    "UnknownConceptError",
    "UnknownParentError",
    "UnmappedValuesError",
    "UnsafeSourceError",
]


class OntomaskError(Exception):
    """Base of all errors raised by ontomask."""

    def __str__(self) -> str:
        """Return the sentence itself (a KeyError would show it quoted)."""
        return str(self.args[0]) if self.args else ""


class OntomaskWarning(UserWarning):
    """Something works, but perhaps not as it was meant."""


class ParameterError(OntomaskError, ValueError):
    """A parameter has a value that is not allowed."""


class DependencyError(OntomaskError, ImportError):
    """An optional package is needed and not installed."""


class SchemaError(OntomaskError, ValueError):
    """The schema does not fit the table, or contradicts itself."""


class DataError(OntomaskError, ValueError):
    """The table holds something that cannot be worked with."""


class MethodError(OntomaskError, ValueError):
    """A method cannot do what it is asked for on this table."""


class PlanError(OntomaskError, ValueError):
    """A plan has problems; `problems` lists all of them."""

    def __init__(self, message: str, problems: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class OutputError(OntomaskError, OSError):
    """What a run writes cannot be put in its place."""


class ShortMemoryError(OntomaskError, MemoryError):
    """Something would not fit into the memory that is left; it was not begun."""


class PromiseError(OntomaskError):
    """A release does not keep what its method promised; it is not handed out."""


class CancelledError(OntomaskError):
    """The run was stopped on request."""


class TaxonomyError(OntomaskError):
    """Something is wrong with a taxonomy."""


class SourceError(TaxonomyError):
    """The source of a taxonomy cannot be read."""


class SourceNotFoundError(SourceError, FileNotFoundError):
    """There is no such file, folder or bundled taxonomy."""


class FormatError(SourceError):
    """The content is not what the format demands."""


class EncodingError(SourceError):
    """The content is not UTF-8 text."""


class UnsafeSourceError(SourceError):
    """The source tries something that a data file must not do."""


class StructureError(TaxonomyError):
    """The concepts and links do not form a taxonomy."""


class EmptyTaxonomyError(StructureError):
    """There is no concept."""


class CycleError(StructureError):
    """A concept is its own ancestor."""


class UnknownParentError(StructureError):
    """A link points to a concept that is not defined."""


class DuplicateConceptError(StructureError):
    """One id carries two different labels."""


class SeveralRootsError(StructureError):
    """More than one concept has no parent where a single root is demanded."""


class UnknownConceptError(TaxonomyError, KeyError):
    """A concept was asked for that the taxonomy does not hold."""


class UnmappedValuesError(TaxonomyError):
    """Values of a column have no concept in the taxonomy."""


def __dir__() -> list[str]:
    return sorted(__all__)

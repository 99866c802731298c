"""Lists of names and unknown names for messages, and free names."""

from __future__ import annotations

from collections.abc import Collection, Container
from itertools import islice

from ik_node.errors import listed, similar


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name with underscores appended until it is not taken."""
    while name in taken:
        name += '_'
    return name


def quoted(names: Collection[str], most: int = 8) -> str:
    """Return the first names in quotation marks, separated by commas."""
    return ', '.join(map(repr, islice(names, most))) + (', ...' if len(names) > most else '')


def unknown(kind: str, name: str, known: list[str]) -> str:
    """Return the message for an unknown name, with similar or known names."""
    near = similar(name, known)
    if near:
        return f'there is no {kind} {name!r}; did you mean {near}?'
    return f'there is no {kind} {name!r}; known: {listed(known)}'

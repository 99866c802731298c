"""Lists of names, unknown names and repeated notes for messages, and free names."""

from __future__ import annotations

from collections.abc import Collection, Container
from itertools import islice
import re

from ik_node.errors import listed, shown, similar


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
        return f'there is no {kind} {shown(name)}; did you mean {near}?'
    return f'there is no {kind} {shown(name)}; known: {listed(known)}'


MOST_ALIKE = 4  # more notes of one kind become one
_QUOTED = re.compile(r"""(?<!\w)('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)""")
_VARIES = re.compile(_QUOTED.pattern + r'|[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|\binf\b)')


def merge_alike(notes: list[str]) -> None:
    """
    Replace many notes that differ only in names and numbers by the first and a count, in place.

    Such notes are about the same fault of many joints or links.
    """
    kinds: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        kinds.setdefault(_VARIES.sub('*', note), []).append(note)
    found: list[str] = []
    for alike in kinds.values():
        if len(alike) <= MOST_ALIKE:
            found += alike
            continue
        names = [match[0] for match in map(_QUOTED.search, alike[1:]) if match]
        about = f', about {", ".join(names[:6])}{", ..." * (len(names) > 6)}' if names else ''
        found.append(f'{alike[0]}; {len(alike) - 1} more notes of this kind{about}')
    notes[:] = found

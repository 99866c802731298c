"""The words for a name that nobody knows."""

from __future__ import annotations

from difflib import get_close_matches


def unknown(kind: str, name: str, known: list[str]) -> str:
    """Say that a name is unknown, and which names are near it or exist."""
    near = get_close_matches(name, known, n=3)
    if near:
        return f'there is no {kind} {name!r}; did you mean ' + ' or '.join(map(repr, near)) + '?'
    listed = ', '.join(known[:12]) + (', ...' if len(known) > 12 else '')
    return f'there is no {kind} {name!r}; known: {listed or "none"}'

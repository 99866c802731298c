"""The words for a name that nobody knows."""

from __future__ import annotations

from difflib import get_close_matches

from ik_node.errors import listed, shown


def unknown(kind: str, name: str, known: list[str]) -> str:
    """Say that a name is unknown, and which names are near it or exist."""
    near = get_close_matches(name, known, n=3)
    if near:
        return (
            f'there is no {kind} {shown(name)}; did you mean '
            + ' or '.join(map(shown, near))
            + '?'
        )
    return f'there is no {kind} {shown(name)}; known: {listed(known)}'

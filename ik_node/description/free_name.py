"""Names for what is put in."""

from __future__ import annotations

from collections.abc import Container


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name, with as many underscores behind it as make it one that nothing has."""
    while name in taken:
        name += '_'
    return name

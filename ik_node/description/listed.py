"""The words for several names in a note."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice


def listed(names: Collection[str], most: int = 8) -> str:
    """Return names for a note, not too many of them."""
    return ', '.join(map(repr, islice(names, most))) + (', ...' if len(names) > most else '')

"""The text of an SRDF."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import quoteattr


def srdf_text(robot: str, pairs: Mapping[tuple[str, str], str]) -> str:
    """Return an SRDF that excludes pairs of links from collisions, for given reasons."""
    rows = ''.join(
        f'  <disable_collisions link1={quoteattr(a)} link2={quoteattr(b)} '
        f'reason={quoteattr(why)}/>\n'
        for (a, b), why in pairs.items()
    )
    return f'<?xml version="1.0"?>\n<robot name={quoteattr(robot)}>\n{rows}</robot>\n'

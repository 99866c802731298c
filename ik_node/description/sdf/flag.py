"""Truth values of SDFormat."""

from __future__ import annotations


def is_true(text: str | None) -> bool:
    """Say whether a text stands for true."""
    return text is not None and text.strip().lower() in ('true', '1')

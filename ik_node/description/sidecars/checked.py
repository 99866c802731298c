"""The shape of parsed YAML, checked."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from ik_node.description.xml_document import MAX_NUMBER
from ik_node.description.yaml_document import line_of
from ik_node.errors import DescriptionError, shown
import numpy as np

MAX_NAME = 500
MAX_ITEMS = 5000


class Checked:
    """
    Takes parsed YAML apart; what is not as it should be is an error with file and line.

    Attributes
    ----------
    source : str
        For messages.
    line : int or None
        Of the mapping or list that was looked at last, where known.

    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.line: int | None = None

    def mapping(
        self, value: object, what: str, keys: tuple[str, ...], *, others: bool = False
    ) -> Mapping[str, Any]:
        """Return a mapping; keys beside the given ones are an error unless `others`."""
        if not isinstance(value, Mapping):
            raise self.fail(f'{what}: expected keys {" ".join(keys)}, got {shown(value)}')
        self.line = line_of(value) or self.line
        for key in () if others else value:
            if key not in keys:
                raise self.fail(
                    f'{what}: the key {shown(key)} is not known; allowed: {" ".join(keys)}'
                )
        return value

    def items(self, top: Mapping[str, Any], key: str) -> list[Any]:
        """Return the list under a key; none if it is not there or empty."""
        self.line = line_of(top, key) or self.line
        value = top.get(key)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise self.fail(f'{key}: expected a list, got {shown(value)}')
        if len(value) > MAX_ITEMS:
            raise self.fail(f'{key}: {len(value)} entries; at most {MAX_ITEMS} are read')
        return list(value)

    def names(self, top: Mapping[str, Any], key: str) -> list[str]:
        """Return the list of names under a key, each once."""
        found = [self.text(item, f'{key}[{i}]') for i, item in enumerate(self.items(top, key))]
        return list(dict.fromkeys(found))

    def text(self, value: object, what: str) -> str:
        """Return a name."""
        if not isinstance(value, str) or not value:
            raise self.fail(f'{what}: expected a name, got {shown(value)} (quote it: "...")')
        if len(value) > MAX_NAME:
            raise self.fail(f'{what}: a name of {len(value)} characters; allowed: {MAX_NAME}')
        return value

    def numbers(self, value: object, count: int, what: str) -> list[float]:
        """Return so many finite numbers, of a list or of text."""
        parts = value.split() if isinstance(value, str) else value
        wanted = f'{count} finite number' + ('s' if count > 1 else '')
        if isinstance(parts, np.ndarray):
            parts = parts.tolist()
        if not isinstance(parts, list | tuple) or len(parts) != count:
            raise self.fail(f'{what}: expected {wanted}, got {shown(value)}')
        numbers = []
        for part in parts:
            try:
                # YAML 1.1 reads 1e-6 as text
                number = float('nan') if isinstance(part, bool) else float(part)
            except (TypeError, ValueError, OverflowError):
                number = float('nan')
            if not isfinite(number) or abs(number) > MAX_NUMBER:
                raise self.fail(
                    f'{what}: expected {wanted} up to {MAX_NUMBER:g}, got {shown(value)}'
                )
            numbers.append(number)
        return numbers

    def fail(self, message: str) -> DescriptionError:
        """Make the exception for a fault on the present line."""
        return DescriptionError(message, source=self.source, line=self.line)

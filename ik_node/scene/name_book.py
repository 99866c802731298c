"""Names of shapes."""

from __future__ import annotations


class NameBook:
    """Gives out names that are all different, in the order in which they are asked for."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, name: str) -> str:
        """Return the name, or `name#2` and so on where it is given already."""
        count, found = 1, name
        while found in self._given:
            count += 1
            found = f'{name}#{count}'
        self._given.add(found)
        return found

"""Names for what an MJCF leaves without one."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """
    Gives out names that are not taken.

    Parameters
    ----------
    taken : iterable of str
        Those that are in the file.

    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def is_free(self, name: str) -> bool:
        """Say whether a name is not taken yet."""
        return name not in self._taken

    def unique(self, wanted: str) -> str:
        """Return a name as wanted, or with a number behind it, and take it."""
        name, count = wanted, self._counts.get(wanted, 1)
        while name in self._taken:
            count += 1
            name = f'{wanted}_{count}'
        self._counts[wanted] = count
        self._taken.add(name)
        return name

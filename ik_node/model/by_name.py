"""The mapping of names to the things that have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from ik_node.display import MOST_ROWS, printable, public_names
from ik_node.errors import UnknownFrameError

Value = TypeVar('Value')


class ByName(dict[str, Value]):
    """
    A dict whose keys are names, which raises UnknownFrameError for a name that it does not have.

    `kind` says what has the names, for messages: 'link', 'joint' and so on.
    """

    def __init__(
        self, kind: str, entries: Mapping[str, Value] | Iterable[tuple[str, Value]] = ()
    ) -> None:
        super().__init__(entries)
        self._kind = kind

    def __getitem__(self, name: str) -> Value:
        try:
            return super().__getitem__(name)
        except (KeyError, TypeError):  # or a key that cannot be in a dict, such as a list
            raise UnknownFrameError(name, self, self._kind) from None

    __dir__ = public_names

    def __repr__(self) -> str:
        lines = [f'  {name}: {value!r}' for name, value in [*self.items()][:MOST_ROWS]]
        lines += [f'  ... {len(self) - MOST_ROWS} more'] if len(self) > MOST_ROWS else []
        return printable([f'{len(self)} {self._kind}{"s" * (len(self) != 1)}', *lines])

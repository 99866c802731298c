# flake8: noqa: E203
"""Which rows of a packed chain belong together, and where its Jacobian's numbers belong."""

from __future__ import annotations

from typing import NamedTuple

from ik_node.kernels.layout import begin_of, SIZES
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Block(NamedTuple):
    """
    Rows of one constraint that count in one unit: first to last - 1.

    Attributes
    ----------
    constraint, first, last : int
    is_rotation : bool
        Whether they count in [rad]; else in [m]. Three that do are a full orientation.

    """

    constraint: int
    first: int
    last: int
    is_rotation: bool


def blocks_of(ints: Ints) -> tuple[Block, ...]:
    """Return the blocks of a packed chain, in the order of its rows."""
    row0, angular = begin_of(ints, 'row0'), begin_of(ints, 'angular')
    blocks = []
    for c in range(int(ints[SIZES.index('nc')])):
        first, turn, last = int(ints[row0 + c]), int(ints[angular + c]), int(ints[row0 + c + 1])
        if first < turn:
            blocks.append(Block(c, first, turn, is_rotation=False))
        if turn < last:
            blocks.append(Block(c, turn, last, is_rotation=True))
    return tuple(blocks)


def places_of(ints: Ints) -> tuple[Ints, Ints]:
    """Return the row and the variable of every number of the Jacobian."""
    row0, slot0 = begin_of(ints, 'row0'), begin_of(ints, 'slot0')
    slot_var = begin_of(ints, 'slot_var')
    rows: list[Ints] = [np.zeros(0, dtype=np.int64)]
    columns: list[Ints] = [np.zeros(0, dtype=np.int64)]
    for c in range(int(ints[SIZES.index('nc')])):
        first, last = int(ints[row0 + c]), int(ints[row0 + c + 1])
        variables = ints[slot_var + int(ints[slot0 + c]) : slot_var + int(ints[slot0 + c + 1])]
        rows.append(np.repeat(np.arange(first, last), variables.size))
        columns.append(np.tile(variables, last - first))
    return np.concatenate(rows), np.concatenate(columns)

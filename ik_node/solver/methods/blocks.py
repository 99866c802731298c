# flake8: noqa: E203
"""Which rows of a packed chain belong together."""

from __future__ import annotations

from typing import NamedTuple

from ik_node.kernels.layout import begin_of, BLOCK, SIZES
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
        Whether they count in [rad]; else in lengths. Three that do are a full orientation.

    """

    constraint: int
    first: int
    last: int
    is_rotation: bool


def blocks_of(ints: Ints) -> tuple[Block, ...]:
    """Return the blocks of a packed chain, in the order of its rows."""
    row_end, angular = begin_of(ints, 'row_end'), begin_of(ints, 'angular')
    blocks, first = [], 0
    for c in range(int(ints[SIZES.index('nc')])):
        turn = first + int(ints[angular + c]) - BLOCK * c
        last = first + int(ints[row_end + c]) - BLOCK * c
        if first < turn:
            blocks.append(Block(c, first, turn, is_rotation=False))
        if turn < last:
            blocks.append(Block(c, turn, last, is_rotation=True))
        first = last
    return tuple(blocks)

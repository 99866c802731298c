"""The six degrees of freedom of a joint and the order in which they act."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from ik_node.errors import OptionError


class DOF(IntEnum):
    """
    One movable axis of a joint: translation first, then Euler angles.

    A joint moves its child by D = T(x, y, z) Rz(ez) Ry(ey) Rx(ex), in [m] and [rad].
    """

    X = 0
    Y = 1
    Z = 2
    EX = 3
    EY = 4
    EZ = 5

    @property
    def is_rotation(self) -> bool:
        """Whether the axis is turned about, in [rad], not moved along, in [m]."""
        return self >= DOF.EX


DOF_NAMES: tuple[str, ...] = tuple(dof.name for dof in DOF)


def parse_dofs(dofs: str | Iterable[int | str], name: str = 'dof') -> tuple[DOF, ...]:
    """
    Read a set of axes, written 'X Y EZ' or as DOF members, into enum order.

    Raises
    ------
    OptionError
        If an axis is unknown or named twice.

    """
    parts = dofs.replace(',', ' ').split() if isinstance(dofs, str) else list(dofs)
    try:
        found = [DOF[part.upper()] if isinstance(part, str) else DOF(part) for part in parts]
    except (KeyError, ValueError):
        raise OptionError(name, dofs, 'some of X Y Z EX EY EZ') from None
    if len(set(found)) != len(found):
        raise OptionError(name, dofs, 'each of X Y Z EX EY EZ at most once')
    return tuple(sorted(found))

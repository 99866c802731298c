"""The six degrees of freedom of a joint, and the order in which they act."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from ik_node.errors import OptionError


class DOF(IntEnum):
    """
    One axis of a joint: translations X Y Z [m], then Euler angles EX EY EZ [rad].

    A joint moves its child by D = T(x, y, z) Rz(ez) Ry(ey) Rx(ex), theory.md, eq. (2).

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.DOF.EZ.is_rotation
    True

    """

    X = 0
    Y = 1
    Z = 2
    EX = 3
    EY = 4
    EZ = 5

    @property
    def is_rotation(self) -> bool:
        """Return True for a rotation [rad], False for a translation [m]."""
        return self >= DOF.EX


DOF_NAMES: tuple[str, ...] = tuple(dof.name for dof in DOF)


def parse_dofs(dofs: str | Iterable[int | str], name: str = 'dof') -> tuple[DOF, ...]:
    """
    Return a set of axes, given as 'X Y EZ' or as names or members of DOF, in the order of DOF.

    OptionError, which calls the axes `name`, is raised if one is unknown or occurs twice.
    """
    try:
        parts = dofs.replace(',', ' ').split() if isinstance(dofs, str) else list(dofs)
        result = [DOF[part.upper()] if isinstance(part, str) else DOF(part) for part in parts]
    except (KeyError, ValueError, TypeError):
        raise OptionError(name, dofs, "some of X Y Z EX EY EZ, such as 'X Y'") from None
    if len(set(result)) != len(result):
        raise OptionError(name, dofs, 'each of X Y Z EX EY EZ at most once')
    return tuple(sorted(result))


def mask_of(dofs: Iterable[DOF]) -> int:
    """Return the integer of which bit k is set if axis k is among the given ones."""
    return sum(1 << dof for dof in dofs)

"""A wish: a pose asked of a link, on chosen axes."""

from __future__ import annotations

from ik_node.errors import OptionError, shown
from ik_node.model.constraint import Constraint
from ik_node.model.dof import DOF, parse_dofs


class Goal(Constraint):
    """
    A frame that a link's frame shall meet on the chosen axes, all six at first.

    Say which link with `make_closure(link)`, where with `set_position` and `set_quaternion`: in
    the root frame, or in its parent link's when it hangs in the tree.

    Parameters
    ----------
    name : str

    """

    _default_axes = 'world'

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self._priority = 0

    @property
    def priority(self) -> int:
        """Goals of a lower number are met first; 0 or more."""
        return self._priority

    @priority.setter
    def priority(self, value: int) -> None:
        if isinstance(value, bool) or int(value) != value or value < 0:
            raise OptionError(
                f'priority of {shown(self.name)}', value, 'a whole number, 0 or more'
            )
        self._priority = int(value)
        self.revision.count_ask()

    def _count_move(self) -> None:
        """Count nothing: every solve reads where goals are, or is told."""

    def set_goal_dof(self, *dofs: int | str) -> None:
        """Choose the axes that are asked for; any subset of X Y Z EX EY EZ."""
        self.set_dof(*dofs)

    def set_free_dof(self, *dofs: int | str) -> None:
        """Choose the axes that are left free; all others are asked for."""
        free = parse_dofs(dofs)
        self.set_dof(*(dof for dof in DOF if dof not in free))

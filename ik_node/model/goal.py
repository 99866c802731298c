"""The goal: a target pose, or part of one, for a link."""

from __future__ import annotations

from ik_node.model.attributes import counted
from ik_node.model.constraint import Constraint
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.given import whole_number


class Goal(Constraint):
    """
    A target frame that the frame of a link shall reach on chosen axes, by default all six.

    Choose the link with `make_closure(link)` and the target pose with `set_position` and
    `set_quaternion`. The pose is relative to the parent frame; a goal without parent is placed in
    the root frame.

    Parameters
    ----------
    name : str
        Name in messages and results.

    Examples
    --------
    >>> import ik_node as ik
    >>> tip = ik.Link('tip')
    >>> goal = ik.Goal('hand')
    >>> goal.set_goal_dof('X', 'Y', 'Z')
    >>> goal.set_position(0.4, 0.0, 0.3)
    >>> goal.make_closure(tip)
    >>> goal.get_residual().tolist(), goal.priority
    ([-0.4, 0.0, -0.3], 0)

    """

    priority: int = counted(
        'priority',
        lambda goal: goal.revision.count_constraint(),
        whole_number,
        'The priority, an integer >= 0; goals with a lower number are met first.',
    )
    _default_axes = 'world'

    def __init__(self, name: str = '') -> None:
        super().__init__(name)
        self._priority = 0

    def _facts(self) -> list[str]:
        position, quat_xyzw = (
            ', '.join(f'{value:.4g}' for value in part)
            for part in (self.position, self.quaternion)
        )
        return [*super()._facts(), f'at ({position}) m, turned ({quat_xyzw})']

    def _count_move(self) -> None:
        """Count no change: every solve reads the poses of goals or gets them as arguments."""

    def set_goal_dof(self, *dofs: int | str) -> None:
        """
        Choose the constrained axes: any subset of X Y Z EX EY EZ.

        Examples
        --------
        >>> import ik_node as ik
        >>> goal = ik.load_robot('arm6').add_goal('tool_link')
        >>> goal.set_goal_dof('X', 'Y', 'Z')  # the orientation is free
        >>> [dof.name for dof in goal.dof]
        ['X', 'Y', 'Z']

        """
        self.set_dof(*dofs)

    def set_free_dof(self, *dofs: int | str) -> None:
        """
        Choose the free axes: any subset of X Y Z EX EY EZ; all others are constrained.

        Examples
        --------
        >>> import ik_node as ik
        >>> goal = ik.Goal('pen')
        >>> goal.set_free_dof('EZ')
        >>> [dof.name for dof in goal.dof]
        ['X', 'Y', 'Z', 'EX', 'EY']

        """
        free = parse_dofs(dofs)
        self.set_dof(*(dof for dof in DOF if dof not in free))

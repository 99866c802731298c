"""The goals of a robot, asked for by the names of its links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ik_node.description.description import Description
from ik_node.errors import OptionError, ShapeError, shown, UnknownFrameError
from ik_node.model.dof import parse_dofs
from ik_node.model.goal import Goal
from ik_node.model.link import Link
from ik_node.model.rotation import matrix_to_quat, pose_inverse, pose_matrix, quat_between
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# kind -> axes that can be asked for
GOAL_KINDS = {'frame': 'X Y Z EX EY EZ', 'look_at': '', 'distance': '', 'centre_of_mass': 'X Y Z'}
AXES = {'X': (1.0, 0.0, 0.0), 'Y': (0.0, 1.0, 0.0), 'Z': (0.0, 0.0, 1.0)}


class RobotGoals:
    """
    What a robot is asked for.

    Parameters
    ----------
    description : Description
        Whose links goals are for.

    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self._goals: dict[str, Goal] = {}

    @property
    def goals(self) -> Mapping[str, Goal]:
        """All goals by name."""
        return self._goals

    def add_goal(
        self,
        link: str,
        *,
        name: str | None = None,
        kind: str = 'frame',
        dof: str | None = None,
        axes: str = 'world',
        base: str | None = None,
        offset: tuple[ArrayLike, ArrayLike] | None = None,
        axis: str | ArrayLike = 'Z',
        distance: float | None = None,
        weight: float = 1.0,
        priority: int = 0,
        tolerance: float | Sequence[float] | None = None,
    ) -> Goal:
        """
        Ask something of a link; the goal begins where it is met.

        Move it with `Goal.set_position` and `set_quaternion`, or give poses to
        `Solver.solve_pose`.

        Parameters
        ----------
        link : str
            Its name.
        name : str, optional
            Of the goal; the link's by default.
        kind : {'frame', 'look_at', 'distance', 'centre_of_mass'}
            frame: the link is to be at the goal's pose. look_at: its `axis` is to point at the
            goal's origin, which begins 1 m ahead. distance: its origin is to be `distance` from
            the goal's, which begins at the origin of `base`. centre_of_mass: that of the link
            and all that it carries is to be at the goal's origin.
        dof : str, optional
            Axes that are asked for; None = all that the kind has: 'X Y Z EX EY EZ' for a frame,
            'X Y Z' for a centre of mass, none for the others, which count otherwise.
        axes : {'world', 'goal', 'link'}
            Whose axes `dof` counts in; a centre of mass has none of the link.
        base : str, optional
            A link that the goal hangs under: its pose counts in this link, wherever that moves.
            None = the root frame.
        offset : (position (3,) [m], quat_xyzw (4,)), optional
            What is to meet the goal, as a frame in the link; not for a centre of mass.
        axis : str or array_like, shape (3,)
            Of that frame, for kind look_at: X, Y, Z, -X, -Y, -Z or a direction.
        distance : float, optional
            [m], for kind distance; None = the present one.
        weight : float
            0 or more; how much it counts where not all goals can be met.
        priority : int
            0 or more; goals of a lower number are met first.
        tolerance : float or (float, float), optional
            [m] and [rad], or one number for both; None = the solver's thresholds.

        Returns
        -------
        Goal

        Raises
        ------
        UnknownFrameError
            If there is no such link or base.
        OptionError
            If the name is taken, or an argument is not allowed or does not go with the kind.
        ShapeError
            If `axis`, `offset` or `tolerance` has the wrong shape or is not finite.
        TopologyError
            If a centre of mass is asked for where there is no mass.

        """
        goal = Goal(name=link if name is None else name)
        moved, carrier = self._link(link), None if base is None else self._link(base)
        if goal.name in self._goals or goal.name in self.description.closures:
            raise OptionError('name', goal.name, 'a name that no goal or closure has')
        if carrier is moved:
            raise OptionError(
                'base', base, f'another link than {shown(link)}, which the goal is for'
            )
        self._check_kind(kind, dof, offset, axis, distance)
        if kind == 'centre_of_mass' and axes == 'link':
            raise OptionError('axes', axes, 'world goal, for kind centre_of_mass')
        goal.kind = kind
        goal.set_goal_dof(*parse_dofs(GOAL_KINDS[kind] if dof is None else dof))
        goal.axes = axes
        goal.weight, goal.priority, goal.tolerance = weight, priority, tolerance
        if offset is not None:
            goal.set_offset(*offset)
        if kind == 'look_at':
            turned = pose_matrix((0, 0, 0), goal.offset_quaternion) @ _turn_onto(axis)
            goal.set_offset(goal.offset_position, matrix_to_quat(turned))
        self._begin(goal, moved, carrier, distance)
        if carrier is not None:
            carrier.add_child(goal)
        goal.make_closure(moved)
        self._goals[goal.name] = goal
        return goal

    def remove_goal(self, name: str) -> None:
        """
        Take a goal away.

        Raises
        ------
        UnknownFrameError
            If there is no such goal.

        """
        goal = self._goals.pop(name, None)
        if goal is None:
            raise UnknownFrameError(name, self._goals, 'goal')
        if goal.parent is not None:
            goal.parent.remove_child(goal)
        if goal.child is not None:
            goal.remove_child(goal.child)

    def _link(self, name: str) -> Link:
        link = self.description.links.get(name)
        if link is None:
            raise UnknownFrameError(name, self.description.links, 'link')
        return link

    @staticmethod
    def _check_kind(
        kind: str,
        dof: str | None,
        offset: tuple[ArrayLike, ArrayLike] | None,
        axis: str | ArrayLike,
        distance: float | None,
    ) -> None:
        """Refuse a kind that there is not, and what would have no effect on it."""
        if kind not in GOAL_KINDS:
            raise OptionError('kind', kind, ' '.join(GOAL_KINDS))
        allowed = GOAL_KINDS[kind]
        if dof is not None and (not allowed or set(parse_dofs(dof)) - set(parse_dofs(allowed))):
            some = f'some of {allowed}' if allowed else 'none: its rows are not counted by axes'
            raise OptionError('dof', dof, f'for kind {kind}: {some}')
        if offset is not None and kind == 'centre_of_mass':
            raise OptionError('offset', offset, 'none for kind centre_of_mass')
        if distance is not None and kind != 'distance':
            raise OptionError('distance', distance, f'none for kind {kind}')
        if kind != 'look_at' and not (isinstance(axis, str) and axis == 'Z'):
            raise OptionError('axis', axis, f'none for kind {kind}, which points nowhere')

    def _begin(self, goal: Goal, link: Link, base: Link | None, distance: float | None) -> None:
        """Place the goal so that it is met at the present joint values, where it can be."""
        there = link.matrix_world @ pose_matrix(goal.offset_position, goal.offset_quaternion)
        if goal.kind == 'centre_of_mass':
            there = pose_matrix(link.get_centre_of_mass_below(), (0, 0, 0, 1))
        if base is not None:
            there = pose_inverse(base.matrix_world) @ there
        if goal.kind == 'distance':
            present = float(np.linalg.norm(there[:3, 3]))
            goal.distance = present if distance is None else distance
            return
        if goal.kind == 'look_at':
            there[:3, 3] += there[:3, 2]
        goal.set_position(*there[:3, 3])
        goal.set_quaternion(*matrix_to_quat(there[:3, :3]))


def _turn_onto(axis: str | ArrayLike) -> Array:
    """Return the rotation, (4, 4), whose z axis is the one named."""
    if isinstance(axis, str):
        sign = -1.0 if axis.startswith('-') else 1.0
        named = AXES.get(axis.removeprefix('-').upper())
        if named is None:
            raise OptionError('axis', axis, 'X Y Z -X -Y -Z, or a direction (3,)')
        direction = sign * np.array(named)
    else:
        try:
            direction = np.asarray(axis, dtype=np.float64)
        except (TypeError, ValueError):
            raise ShapeError('axis', 'three numbers', repr(axis)[:80]) from None
        if direction.shape != (3,) or not np.isfinite(direction).all() or not direction.any():
            raise ShapeError('axis', 'shape (3,), finite, not zero', str(direction.tolist()))
    return pose_matrix((0.0, 0.0, 0.0), quat_between((0.0, 0.0, 1.0), direction))

"""Goals for the links of a robot, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ik_node.errors import IkError, OptionError, ShapeError
from ik_node.kernels.kinds import KINDS
from ik_node.model.attributes import ByName
from ik_node.model.constraint import Closure, describe_kinds, Goal
from ik_node.model.dof import parse_dofs
from ik_node.model.given import numbers, one_of
from ik_node.model.link import Link
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.residual import residual_rows
from ik_node.model.rotation import matrix_to_quat, pose_inverse, pose_matrix, quat_between
from ik_node.model.user_goal import UserGoal
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# The kinds that `Robot.add_goal` takes.
GOAL_KINDS = {name: kind for name, kind in KINDS.items() if kind.use == 'goal'}
AXES = {'X': (1.0, 0.0, 0.0), 'Y': (0.0, 1.0, 0.0), 'Z': (0.0, 0.0, 1.0)}


class LinkGoals:
    """The goals of a robot, for its links; their names differ from those of its closures."""

    def __init__(self, links: Mapping[str, Link], closures: Mapping[str, Closure]) -> None:
        self._goals: ByName[Goal] = ByName('goal')
        self._links, self._closures = links, closures

    @property
    def links(self) -> Mapping[str, Link]:
        """Return all links by name."""
        return self._links

    @property
    def closures(self) -> Mapping[str, Closure]:
        """Return all closures by name."""
        return self._closures

    @property
    def goals(self) -> Mapping[str, Goal]:
        """Return all goals by name."""
        return self._goals

    def add_goal(
        self,
        link: str | UserGoal,
        *,
        name: str | None = None,
        kind: str = 'frame',
        dof: str | None = None,
        axes: str = 'world',
        base: str | None = None,
        offset: Any = None,
        axis: str | ArrayLike = 'Z',
        distance: float | None = None,
        weight: float = 1.0,
        priority: int = 0,
        tolerance: float | Sequence[float] | None = None,
    ) -> Goal:
        """
        Add a goal for a link; the goal is met at the present configuration if possible.

        Move it with `Goal.set_position` and `set_quaternion`, or pass poses to
        `Solver.solve_pose`.

        Parameters
        ----------
        link : str or UserGoal
            Name of the link. Or a goal with a residual of its own, see `UserGoal`: of the other
            arguments it takes `name`, `weight`, `priority` and `tolerance`.
        name : str, optional
            Name of the goal; the link's name by default.
        kind : str
            One of these, with frame A on the link, its z along `axis`, and frame B the goal.
            {kinds}
            The goal is initially at the link's pose, of look_at 1 m ahead, and at the origin of
            `base` if the kind has a distance.
        dof : str, optional
            Constrained axes; None = all axes of the kind: 'X Y Z EX EY EZ' for a frame, 'X Y Z'
            for a centre of mass. The other kinds have no axes.
        axes : {'world', 'goal', 'link'}
            The frame of the axes in `dof`; a centre of mass has no link axes.
        base : str, optional
            The link in which the goal's pose is given, so that the goal moves with it. None = the
            root frame.
        offset : (position (3,) [m], quat_xyzw (4,)), or another form of a pose, optional
            Pose in the link of the frame that must meet the goal; not for a centre of mass.
        axis : str or array_like, shape (3,)
            Axis of that frame, for kind look_at: X, Y, Z, -X, -Y, -Z or a direction.
        distance : float, optional
            Target distance [m] of kinds that have one; None = the present distance.
        weight : float
            Weight of the goal if not all goals can be met, 0 or more.
        priority : int
            Priority, 0 or more; goals with lower numbers are met first.
        tolerance : float or sequence of float, optional
            The residual that counts as met: one number for both units, two for [m] and [rad], or
            one for each axis in `dof`. None = the solver's thresholds. See `Goal.tolerance`.

        Returns
        -------
        Goal

        Raises
        ------
        UnknownFrameError
            If there is no such link or base.
        OptionError
            If the name is taken, or an argument is not allowed for the kind.
        ShapeError
            If `axis`, `offset` or `tolerance` has the wrong shape or is not finite.
        TopologyError
            If the kind is centre_of_mass and the links have no mass.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('hexapod')
        >>> goal = robot.add_goal('platform_link', name='platform')
        >>> goal.set_position(0.0, 0.0, 0.09)
        >>> all(ik.Solver(robot).solve())
        True

        """
        if isinstance(link, UserGoal):
            unused: dict[str, Any] = {
                'kind': kind != 'frame',
                'dof': dof,
                'axes': axes != 'world',
                'base': base,
            }
            unused |= {'offset': offset, 'axis': not _is_z(axis), 'distance': distance}
            for argument, given in unused.items():
                if given is not None and given is not False:
                    raise OptionError(argument, given, f'none for {type(link).__name__}')
            return self._add_own(link, name, weight, priority, tolerance)
        goal = Goal(name=link if name is None else name)
        moved, carrier = self.links[link], None if base is None else self.links[base]
        self._check_name(link if name is None else name)
        if carrier is moved:
            raise OptionError('base', base, f'another link than {link!r}, which the goal is for')
        self._check_kind(kind, dof, offset, axis, distance)
        if kind == 'centre_of_mass' and axes == 'link':
            raise OptionError('axes', axes, 'world goal, for kind centre_of_mass')
        goal.kind = kind
        goal.set_goal_dof(*parse_dofs(GOAL_KINDS[kind].axes if dof is None else dof))
        goal.axes = axes
        goal.weight, goal.priority, goal.tolerance = weight, priority, tolerance
        if offset is not None:
            goal.set_offset(*position_and_quat('offset', offset))
        if kind == 'look_at':
            turned = pose_matrix((0, 0, 0), goal.offset_quaternion) @ _turn_onto(axis)
            goal.set_offset(goal.offset_position, matrix_to_quat(turned))
        self._begin(goal, moved, carrier, distance)
        if carrier is not None:
            carrier.add_child(goal)
        goal.make_closure(moved)
        self._goals[goal.name] = goal
        return goal

    def _add_own(
        self,
        goal: UserGoal,
        name: str | None,
        weight: float,
        priority: int,
        tolerance: float | Sequence[float] | None,
    ) -> UserGoal:
        """Add a goal of a user; defaults leave what it says itself."""
        if not hasattr(goal, 'seen'):
            kind = type(goal).__name__
            raise OptionError('goal', kind, f'super().__init__(name) called in {kind}.__init__')
        links = [self.links[each] for each in goal.link_names()]
        self._check_name(goal.name if name is None else name)
        before, goal.name = goal.name, goal.name if name is None else name
        try:
            goal.make_closure(*links)
        except IkError:
            goal.name = before
            raise
        goal.weight = goal.weight if weight == 1.0 else weight
        goal.priority = priority or goal.priority
        goal.tolerance = goal.tolerance if tolerance is None else tolerance
        self._goals[goal.name] = goal
        return goal

    def _check_name(self, name: str) -> None:
        if not isinstance(name, str):
            raise OptionError('name', name, 'a text')
        if name in self._goals or name in self._closures:
            raise OptionError('name', name, 'another name; a goal or a closure has this one')

    def remove_goal(self, name: str) -> None:
        """
        Remove a goal.

        Raises
        ------
        UnknownFrameError
            If there is no such goal.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> goal = robot.add_goal('tool_link', name='hand')
        >>> robot.remove_goal('hand')
        >>> list(robot.goals)
        []

        """
        goal = self._goals[name]
        del self._goals[name]
        if goal.parent is not None:
            goal.parent.remove_child(goal)
        if goal.child is not None:
            goal.remove_child(goal.child)

    @staticmethod
    def _check_kind(
        kind: str, dof: str | None, offset: Any, axis: str | ArrayLike, distance: float | None
    ) -> None:
        """Raise OptionError for an unknown kind, or an argument that the kind does not use."""
        one_of('kind', kind, GOAL_KINDS)
        allowed = GOAL_KINDS[kind].axes
        if dof is not None and (not allowed or set(parse_dofs(dof)) - set(parse_dofs(allowed))):
            some = f'some of {allowed}' if allowed else 'none: its rows have no axes'
            raise OptionError('dof', dof, f'for kind {kind}: {some}')
        if offset is not None and kind == 'centre_of_mass':
            raise OptionError('offset', offset, 'none for kind centre_of_mass')
        if distance is not None and not GOAL_KINDS[kind].has_distance:
            raise OptionError('distance', distance, f'none for kind {kind}')
        if kind != 'look_at' and not _is_z(axis):
            raise OptionError('axis', axis, f'none for kind {kind}, which has no pointing axis')

    def _begin(self, goal: Goal, link: Link, base: Link | None, distance: float | None) -> None:
        """Set the goal's pose so that it is met at the present configuration, if possible."""
        there = link.matrix_world @ goal.offset_matrix
        if goal.kind == 'centre_of_mass':
            there = pose_matrix(link.get_centre_of_mass_below(), (0, 0, 0, 1))
        if base is not None:
            there = pose_inverse(base.matrix_world) @ there
        if GOAL_KINDS[goal.kind].has_distance:
            flags, axes = goal.dof_flags, goal.axes
            present = residual_rows(goal.kind, axes, flags, 0.0, there, np.eye(4))[0]
            goal.distance = float(present) if distance is None else distance
            return
        if goal.kind == 'look_at':
            there[:3, 3] += there[:3, 2]
        goal.set_pose(there)


def _is_z(axis: str | ArrayLike) -> bool:
    return isinstance(axis, str) and axis == 'Z'


def _turn_onto(axis: str | ArrayLike) -> Array:
    """Return the rotation (4, 4) whose z axis is the given axis."""
    if isinstance(axis, str):
        sign = -1.0 if axis.startswith('-') else 1.0
        named = AXES.get(axis.removeprefix('-').upper())
        if named is None:
            raise OptionError('axis', axis, 'X Y Z -X -Y -Z, or a direction (3,)')
        direction = sign * np.array(named)
    else:
        direction = numbers('axis', axis, (3,))
        if direction.shape != (3,) or not np.isfinite(direction).all() or not direction.any():
            raise ShapeError('axis', 'shape (3,), finite, not zero', str(direction.tolist()))
    return pose_matrix((0.0, 0.0, 0.0), quat_between((0.0, 0.0, 1.0), direction))


if LinkGoals.add_goal.__doc__ is not None:  # None with python -OO
    LinkGoals.add_goal.__doc__ = LinkGoals.add_goal.__doc__.replace(
        '{kinds}', describe_kinds('goal').replace('\n', '\n    ')
    )

"""Goals for the links of a robot, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ik_node.errors import IkError, OptionError, ShapeError
from ik_node.kernels.kinds import KINDS
from ik_node.model.by_name import ByName
from ik_node.model.closure import Closure
from ik_node.model.dof import parse_dofs
from ik_node.model.given import numbers, one_of
from ik_node.model.goal import Goal
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
        self.by_name: ByName[Goal] = ByName('goal')
        self._links = links
        self._closures = closures

    def add(
        self,
        link: Any,
        *,
        name: str | None,
        kind: str,
        dof: str | None,
        axes: str,
        base: str | None,
        offset: Any,
        axis: str | ArrayLike,
        distance: float | None,
        weight: float,
        priority: int,
        tolerance: float | Sequence[float] | None,
    ) -> Goal:
        """Add a goal for a link; see `Robot.add_goal`."""
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
        if not isinstance(link, str):
            allowed = 'the name of a link, or an object of a class derived from ik.UserGoal'
            raise OptionError('link', link, allowed)
        goal = Goal(name=link if name is None else name)
        moved, carrier = self.link(link), None if base is None else self.link(base)
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
        self.by_name[goal.name] = goal
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
        links = [self.link(each) for each in goal.link_names()]
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
        self.by_name[goal.name] = goal
        return goal

    def _check_name(self, name: str) -> None:
        if not isinstance(name, str):
            raise OptionError('name', name, 'a text')
        if name in self.by_name or name in self._closures:
            raise OptionError('name', name, 'another name; a goal or a closure has this one')

    def remove(self, name: str) -> None:
        """Remove a goal; see `Robot.remove_goal`."""
        goal = self.by_name[name]
        del self.by_name[name]
        if goal.parent is not None:
            goal.parent.remove_child(goal)
        if goal.child is not None:
            goal.remove_child(goal.child)

    def link(self, name: str) -> Link:
        """Return a link by name, or raise UnknownFrameError."""
        return self._links[name]

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
        goal.set_position(*there[:3, 3])
        goal.set_quaternion(*matrix_to_quat(there[:3, :3]))


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

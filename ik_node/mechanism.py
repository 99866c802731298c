"""A description with its solver: values, limits, goals, closures and kinematics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ik_node.description.description import Description, WORLD
from ik_node.description.visuals import collision_geometry
from ik_node.display import public_names
from ik_node.errors import IkError, merge_alike, OptionError, ShapeError
from ik_node.kernels.kinds import KINDS
from ik_node.model.attributes import ByName, fixed_array
from ik_node.model.collisions import Collisions
from ik_node.model.constraint import Closure, describe_kinds, Goal
from ik_node.model.dof import parse_dofs
from ik_node.model.frame import Frame, matrix_of
from ik_node.model.given import numbers, one_of
from ik_node.model.joint import Joint
from ik_node.model.kinematics import TreePoses
from ik_node.model.link import Link, with_mass
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.redundancy import Redundancy
from ik_node.model.residual import residual_rows
from ik_node.model.rotation import (
    matrix_to_quat,
    pose_inverse,
    pose_matrix,
    pose_parts,
    quat_between,
)
from ik_node.model.user_goal import UserGoal
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import names_in, Values
from ik_node.solver.solver import Solver
from ik_node.solver.states import closed_samples
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# The kinds that `Robot.add_goal` takes.
GOAL_KINDS = {name: kind for name, kind in KINDS.items() if kind.use == 'goal'}
AXES = {'X': (1.0, 0.0, 0.0), 'Y': (0.0, 1.0, 0.0), 'Z': (0.0, 0.0, 1.0)}


class Mechanism:
    """
    The part of `Robot` that its analysis, its transmissions and its pictures use.

    Parameters and errors are those of `Robot`.
    """

    def __init__(self, source: Description | Frame | Iterable[Frame], name: str = 'robot') -> None:
        goals: list[Goal] = []
        if isinstance(source, Description):
            description = source
        elif isinstance(source, (str, bytes, Path)):
            raise OptionError('source', source, 'frames; load_robot(source) reads a description')
        else:
            from ik_node.description.combine import from_objects

            description, goals = from_objects(source, name)
        self.description = description
        self._goals = ByName('goal', {goal.name: goal for goal in goals})
        self._poses: TreePoses | None = None
        try:
            self._solver = Solver(self, SolverOptions(restarts=20, avoid_collisions=False))
            read = partial(collision_geometry, description)
            sample = partial(closed_samples, self._solver)
            self._collisions = Collisions(self._solver, read, sample)
            notes = self._solver.follow_masters()
        except OptionError as error:  # a coupling that the limits do not allow
            raise description.located(error) from None
        notes += [
            f'joint {name!r} has a motor in the description and follows '
            f'{self._master_of(name)!r}: it does not count as actuated'
            for name in description.actuated
            if self._master_of(name) is not None
        ]
        description.notes += notes
        merge_alike(description.notes)
        self._start = dict(zip(self.joint_names, self.q.tolist(), strict=True))

    __dir__ = public_names

    # -- properties

    @property
    def name(self) -> str:
        """Return the name of the robot in its description."""
        return self.description.name

    @property
    def dialect(self) -> str:
        """Return the format and notations of the description."""
        return self.description.dialect

    @property
    def notes(self) -> list[str]:
        """
        Return what was assumed, left out or corrected, and how open loops are in the file's pose.

        A note that begins with "warning: " is about a fault that is likely in the file.
        """
        return self.description.notes

    @property
    def actuated(self) -> list[str]:
        """
        Return the names of joints, or values such as NAME.EZ, with a motor; empty = none is known.

        A joint that follows one other has no motor of its own, whatever the description says. The
        list can be set; an unknown name raises UnknownFrameError, such a follower OptionError.
        """
        return [name for name in self.description.actuated if self._master_of(name) is None]

    @actuated.setter
    def actuated(self, names: Iterable[str]) -> None:
        chosen = names_in('actuated', names)
        self._solver.arrays_for(())[1].places(chosen)
        for name in chosen:
            master = self._master_of(name)
            if master is not None:
                allowed = f'a joint that follows no other, such as {master!r}, its master'
                raise OptionError('actuated', name, allowed)
        self.description.actuated = list(dict.fromkeys(chosen))

    def _master_of(self, name: str) -> str | None:
        """Return the joint that a joint or value follows, if it follows one alone."""
        joint = self.joints.get(name) or self.joints.get(name.rpartition('.')[0])
        if joint is None or not joint.couplings:
            return None
        axes = [d for d in joint.dof if name in (joint.name, joint.value_name(d))]
        followed = [joint.couplings[d] for d in axes if d in joint.couplings]
        if len(followed) < len(axes) or any(each.others for each in followed):
            return None
        return followed[0].master.name

    @property
    def links(self) -> Mapping[str, Link]:
        """Return all links by name."""
        return self.description.links

    @property
    def closures(self) -> Mapping[str, Closure]:
        """Return all closures by name."""
        return self.description.closures

    @property
    def goals(self) -> Mapping[str, Goal]:
        """Return all goals by name."""
        return self._goals

    @property
    def root(self) -> Link | Joint:
        """Return the first root of the graph."""
        return self.description.root

    @property
    def roots(self) -> list[Frame]:
        """Return all roots of the graph, including goals."""
        return [*self.description.roots, *self.goals.values()]

    @property
    def joint_order(self) -> list[Joint]:
        """Return the movable joints, in the description's order."""
        return self.description.joint_order

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Return all joints by name, including fixed ones."""
        return self.description.joints

    @property
    def joint_names(self) -> list[str]:
        """Return the names of the joint values, in the order of q."""
        return list(self._solver.joint_names)

    @property
    def lower(self) -> Array:
        """Return the lower limits [rad or m], in the order of q; -inf = none; read-only."""
        return fixed_array(self._solver.limits()[0])

    @property
    def upper(self) -> Array:
        """Return the upper limits [rad or m], in the order of q; inf = none; read-only."""
        return fixed_array(self._solver.limits()[1])

    @property
    def max_velocity(self) -> Array:
        """Return the velocity limits [rad/s or m/s], in the order of q; inf = none; read-only."""
        return fixed_array(self._solver.tree.max_velocity)

    @property
    def max_effort(self) -> Array:
        """Return the effort limits [N m or N], in the order of q; inf = none; read-only."""
        return fixed_array(self._solver.tree.max_effort)

    @property
    def q(self) -> Array:
        """
        Return a copy of all joint values [rad or m].

        Setting clamps to the limits; a mapping of joint names to values sets these joints only.
        """
        return self._solver.q

    @q.setter
    def q(self, values: Values) -> None:
        self._solver.q = values

    @property
    def start(self) -> Array:
        """Return the values [rad or m] of the description, before the loops were closed."""
        return np.array([self._start.get(name, 0.0) for name in self.joint_names])

    # -- collisions

    @property
    def collisions(self) -> Collisions:
        """Return the bodies of robot and obstacles, and the pairs whose distance counts."""
        return self._collisions

    # -- goals

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
        if name in self._goals or name in self.closures:
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

    # -- closures

    def add_closure(
        self,
        link_a: str,
        link_b: str,
        *,
        type: str = 'point',  # noqa: A002
        frame_a: Any = None,
        frame_b: Any = None,
        name: str | None = None,
        dof: str | None = None,
        distance: float | None = None,
        tolerance: float | Sequence[float] | None = None,
        weight: float = 1.0,
        enabled: bool = True,
    ) -> Closure:
        """
        Add a closure between two links; without frames, it is closed at the present values.

        With frames that do not coincide, call `assemble` to close the loop.

        Parameters
        ----------
        link_a, link_b : str
            Names of the links. 'world' is the fixed world, even if the description has no such
            link.
        type : str
            weld, point, hinge, slider, universal, planar or distance, see `CLOSURE_TYPES` in
            `ik_node.model.constraint`. A hinge turns about z of frame B, a slider moves along it.
        frame_a, frame_b : (position (3,) [m], quat_xyzw (4,)), or another form, optional
            Poses of the two frames in their links. None = the place where the other frame is at
            present; if neither is given, frame A is that of link_a.
        name : str, optional
            Name of the closure; by default the names of both links.
        dof : str, optional
            Constrained axes of frame B, such as 'X Y Z EX', instead of those of the type.
        distance : float, optional
            For the type distance [m]; None = the present one of the two frames. Then `frame_b` is
            that of link_b if it is not given.
        tolerance : float or sequence of float, optional
            Residuals that count as closed, [m] and [rad], see `Constraint.tolerance`.
        weight : float
            Weight of its rows if not all loops can be closed.
        enabled : bool
            Whether it takes part in solves.

        Returns
        -------
        Closure

        Raises
        ------
        UnknownFrameError
            If there is no such link.
        OptionError
            If the links are the same, the type is unknown, or the name is taken.
        ShapeError
            If a frame has none of the forms.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.combine(
        ...     ik.load_robot('arm6', prefix='l_'), ik.load_robot('arm6', prefix='r_')
        ... )
        >>> free = int(robot.mobility)
        >>> loop = robot.add_closure('l_j6_link', 'r_j6_link', type='weld')
        >>> free - int(robot.mobility)
        6

        """
        if link_a == link_b:
            raise OptionError('link_b', link_b, f'another link than {link_a!r}')
        closure = Closure(f'{link_a}_{link_b}' if name is None else name, type)
        self._check_name(closure.name)
        a, b = (self._link_or_world(each) for each in (link_a, link_b))
        if dof is not None:
            closure.set_dof(*parse_dofs(dof))
        there = a.matrix_world @ matrix_of('frame of a closure', frame_a)
        here = b.matrix_world @ matrix_of('frame of a closure', frame_b)
        if frame_a is None and frame_b is not None and closure.kind != 'distance':
            there = here
        if frame_b is None and closure.kind != 'distance':
            here = there
        if closure.kind == 'distance':
            present = float(np.linalg.norm(there[:3, 3] - here[:3, 3]))
            closure.distance = present if distance is None else distance
        elif distance is not None:
            raise OptionError('distance', distance, f'none for the type {type}')
        closure.tolerance, closure.weight, closure.enabled = tolerance, weight, enabled
        closure.rounding = self.description.rounding
        closure.set_offset(*pose_parts(pose_inverse(a.matrix_world) @ there))
        closure.set_pose(pose_inverse(b.matrix_world) @ here)
        b.add_child(closure)
        closure.make_closure(a)
        self.description.closures[closure.name] = closure
        return closure

    def remove_closure(self, name: str) -> None:
        """
        Remove a closure.

        Raises
        ------
        UnknownFrameError
            If there is no such closure.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('gripper')
        >>> robot.remove_closure(list(robot.closures)[0])

        """
        closure = self.closures[name]
        for link, part in ((closure.child, closure), (closure, closure.parent)):
            if part is not None and link is not None:
                part.remove_child(link)
        del self.description.closures[name]

    def _link_or_world(self, name: str) -> Link:
        if name == WORLD and name not in self.links:
            self.description.links[name] = Link(name)
            self.description.roots.append(self.links[name])
        return self.links[name]

    # -- kinematics

    def _kinematics(self) -> TreePoses:
        """Return the forward kinematics of the present tree."""
        poses, tree = self._poses, self._solver.tree
        if poses is None or poses.tree is not tree:
            poses = self._poses = TreePoses(tree)
        return poses

    def __getstate__(self) -> dict[str, Any]:
        # A copy has a tree of its own.
        return {**self.__dict__, '_poses': None}

    def forward(self, q: Values, link: str) -> Array:
        """
        Return the pose of a link in the root frame, at one configuration or at many.

        Parameters
        ----------
        q : array_like, shape (nq,) or (n, nq), or mapping of str to float
            [rad or m], taken as they are: mimic joints are not moved along. By name, the other
            joints have their present values.
        link : str
            Its name.

        Returns
        -------
        ndarray, shape (4, 4) or (n, 4, 4)

        Raises
        ------
        UnknownFrameError
            If there is no such link.
        ShapeError
            If q has the wrong shape or is not finite.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.forward(robot.q, 'tool_link')[:3, 3].round(2).tolist()  # its position
        [0.58, 0.05, 0.6]
        >>> robot.forward([robot.q, robot.lower], 'tool_link').shape
        (2, 4, 4)

        """
        rows = self._solver.checked_rows(q)
        if rows is not None:
            return self._kinematics().poses(rows, self.links[link])
        return self._kinematics().pose(self._solver.checked_q(q), self.links[link])

    def jacobian(self, q: Values, link: str) -> Array:
        """
        Return the geometric Jacobian of a link's origin, root axes.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            [rad or m], as in `forward`.
        link : str
            Its name.

        Returns
        -------
        ndarray, shape (6, nq)
            Linear rows first, [m] and [rad] per [rad or m]; couplings are not applied.

        Raises
        ------
        UnknownFrameError, ShapeError
            As in `forward`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.jacobian(robot.q, 'tool_link')[:2, 0].round(2).tolist()  # by joint 1
        [-0.05, 0.58]

        """
        return self._kinematics().jacobian(self._solver.checked_q(q), self.links[link])

    # -- masses

    @property
    def mass(self) -> float:
        """Return the mass of all links [kg]; 0 = the description has no masses."""
        return float(sum(link.mass for link in self.links.values()))

    def centre_of_mass(self, q: Values, link: str | None = None) -> Array:
        """
        Return the centre of mass in the root frame.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            [rad or m], taken as they are: mimic joints are not moved along. By name, the other
            joints have their present values.
        link : str, optional
            Name of a link: the result is for it and all links below it. None = the whole robot.

        Returns
        -------
        ndarray, shape (3,)
            [m]

        Raises
        ------
        UnknownFrameError, ShapeError
            As in `forward`.
        TopologyError
            If no link has a mass.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.centre_of_mass(robot.q).round(3).tolist()
        [0.08, 0.013, 0.412]

        """
        kinematics, checked = self._kinematics(), self._solver.checked_q(q)
        links = self.links.values() if link is None else self.links[link].links_below()
        bodies = with_mass(link or self.name, links)
        poses = kinematics.of_columns(kinematics.values(checked))
        return kinematics.centre_of_mass(poses, bodies)

    @property
    def redundancies(self) -> tuple[Redundancy, ...]:
        """Return the closures with redundant rows that agree only up to rounding."""
        return self._solver.redundancies

    @property
    def rounding(self) -> float:
        """Return the largest disagreement of redundant rows of closures [m or rad]."""
        gaps = [pair for each in self.redundancies for pair in each.misfit.values()]
        return max(map(max, gaps), default=0.0)

    # -- output

    def to_urdf(self, *, loops: bool = True) -> str:
        """
        Return the robot as URDF, which reads back to an equal robot with its loops.

        For a robot that was read from a URDF, shapes, inertia and materials are carried over.

        Parameters
        ----------
        loops : bool
            Whether to write closures as <loop_joint>; if False, use `to_closures`.

        Raises
        ------
        TopologyError
            If the robot cannot be written, for example because of a name with control characters
            or a closure without two links.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('gripper')
        >>> list(ik.load_robot(robot.to_urdf()).closures) == list(robot.closures)
        True

        """
        from ik_node.description.writers.urdf import to_urdf

        return to_urdf(self.description, self._start, loops=loops)

    def to_closures(self) -> str:
        """
        Return the closures as YAML, to complement `to_urdf(loops=False)`.

        Raises
        ------
        TopologyError
            If a closure does not connect two links.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('gripper')
        >>> 'closures:' in robot.to_closures()
        True

        """
        from ik_node.description.writers.urdf import to_closures

        return to_closures(self.description)


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


if Mechanism.add_goal.__doc__ is not None:  # None with python -OO
    Mechanism.add_goal.__doc__ = Mechanism.add_goal.__doc__.replace(
        '{kinds}', describe_kinds('goal').replace('\n', '\n    ')
    )

"""The class Robot, which combines description, model and solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, TYPE_CHECKING

from ik_node.analysis.assembly import Assembly, close_loops
from ik_node.analysis.file_pose import FileGap, FilePose, gap_notes
from ik_node.description.description import Description, WORLD
from ik_node.description.read import read_description
from ik_node.description.xacro_source import XACRO_SECONDS
from ik_node.description.xml_document import MAX_BYTES
from ik_node.display import html_table, html_text, public_names, Rows, table
from ik_node.errors import (
    counted,
    IkError,
    listed,
    merge_alike,
    OptionError,
    plain,
    shown,
    TopologyError,
)
from ik_node.model.attributes import fixed_array
from ik_node.model.closure import Closure
from ik_node.model.dof import parse_dofs
from ik_node.model.frame import Frame
from ik_node.model.given import finite, numbers
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.kinematics import TreePoses
from ik_node.model.link import Link
from ik_node.model.link_goals import LinkGoals
from ik_node.model.redundancy import Redundancy
from ik_node.model.rotation import pose_inverse
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import names_in, Values
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ik_node.analysis.mobility import Mobility
    from ik_node.analysis.reach.volume import ReachVolume
    from ik_node.scene.shapes import Shape
    from ik_node.transmission.transmission import Transmission

Array = NDArray[np.float64]


class Robot:
    """
    A robot with closed loops: its model, goals, kinematics and loop closures.

    `load_robot` returns one. Its links, joints, closures and goals may be changed at any time, see
    `Solver`.

    Parameters
    ----------
    source : Description, Frame or iterable of Frame
        A description, as `load_robot` reads it. Or a mechanism that was built from objects: one
        frame of each connected system, and its goals, which stay the robot's own. Frames without a
        name get one. A joint that closes on a link gets an end of its own, which a closure of its
        name welds to that link.
    name : str
        Name of a mechanism that was built from objects.

    Attributes
    ----------
    description : Description
    assembly : Assembly or None
        Result of closing the loops when the robot was loaded; None = not tried.
    file_gaps : mapping of str to FileGap
        How open each loop is in the file's own pose, and the largest joint motion that closing it
        took when the robot was loaded; empty = not tried.

    Raises
    ------
    TopologyError
        If the graph cannot be solved.

    Examples
    --------
    >>> import ik_node as ik
    >>> base, hinge, arm = ik.Link('base'), ik.Joint('hinge'), ik.Link('arm')
    >>> hinge.set_dof('EZ')
    >>> base.add_child(hinge)
    >>> hinge.add_child(arm)
    >>> robot = ik.Robot(base, name='pointer')
    >>> robot.joint_names
    ['hinge']
    >>> '<robot name="pointer">' in robot.to_urdf()
    True

    Properties of a robot that was loaded:

    >>> gripper = ik.load_robot('gripper')
    >>> gripper.name, gripper.actuated, int(gripper.mobility), list(gripper.closures)
    ('gripper', ['left_crank'], 1, ['left_pin', 'right_pin'])
    >>> len(gripper.links), len(gripper.joints), gripper.joint_order[0].name, gripper.root.name
    (9, 8, 'left_crank', 'base_link')
    >>> gripper.roots, gripper.goals, gripper.dialect, round(gripper.mass, 3)
    ([Link('base_link', 0.3 kg)], 0 goals, 'URDF + loop_joint', 0.48)
    >>> (gripper.lower <= gripper.upper).all().item(), gripper.start.tolist() == gripper.q.tolist()
    (True, True)
    >>> gripper.max_velocity.shape, gripper.max_effort.shape
    ((6,), (6,))
    >>> gripper.notes, gripper.redundancies, gripper.rounding
    ([], (), 0.0)

    """

    def __init__(self, source: Description | Frame | Iterable[Frame], name: str = 'robot') -> None:
        goals: list[Goal] = []
        if isinstance(source, Description):
            description = source
        elif isinstance(source, (str, bytes, Path)):
            raise OptionError('source', source, 'frames; load_robot(source) reads a description')
        else:
            from ik_node.description.from_objects import from_objects

            description, goals = from_objects(source, name)
        self.description = description
        self._goals = LinkGoals(description.links, description.closures)
        self._goals.by_name.update({goal.name: goal for goal in goals})
        self._poses: TreePoses | None = None
        self._transmissions: dict[tuple[str, ...], Transmission] = {}
        self.assembly: Assembly | None = None
        self.file_gaps: Mapping[str, FileGap] = {}
        try:
            self._solver = Solver(self, SolverOptions(restarts=20))
            notes = self._solver.follow_masters()
        except OptionError as error:  # a coupling that the limits do not allow
            raise description.located(error) from None
        notes += [
            f'joint {shown(name)} has a motor in the description and follows '
            f'{shown(self._master_of(name))}: it does not count as actuated'
            for name in description.actuated
            if self._master_of(name) is not None
        ]
        description.notes += notes
        merge_alike(description.notes)
        self._start = dict(zip(self.joint_names, self.q.tolist(), strict=True))

    __dir__ = public_names

    def __repr__(self) -> str:
        return '\n'.join([self._headline(), *table(self._rows())])

    def _repr_html_(self) -> str:
        from base64 import b64encode

        from ik_node.scene.plot import png_of

        text = html_text(self._headline())
        try:
            picture = b64encode(png_of(self._shapes())).decode()
        except IkError:  # without matplotlib the notebook shows the table alone
            return text + html_table(self._rows())
        image = f'<img src="data:image/png;base64,{picture}" width="480">'
        return f'{text}{image}{html_table(self._rows())}'

    def _headline(self) -> str:
        lines = [f'Robot {shown(self.name)} ({plain(self.dialect)})']
        lines.append(
            f'{counted(len(self.links), "link")}, '
            f'{counted(len(self.joint_order), "movable joint")}'
        )
        lines[-1] += f' ({len(self.actuated)} with a motor)' if self.actuated else ''
        lines[-1] += f', closures: {len(self.closures)}, goals: {listed(self.goals)}'
        try:
            lines.append(self.mobility.report().splitlines()[0])
        except IkError as error:  # an edited graph that cannot be solved
            lines.append(str(error))
        return '\n  '.join(lines)

    def _rows(self) -> Rows:
        rows = [('joint', 'value', '')]
        try:
            values = zip(self.joint_names, self._solver.tree.owner, strict=True)
            for name, (joint, dof) in values:
                motor = 'motor' if joint.name in self.actuated else ''
                rows.append((plain(name), joint.describe_value(dof), motor))
        except IkError:  # the headline gives the reason
            return []
        return rows

    def _shapes(self, q: Values | None = None) -> tuple[Shape, ...]:
        from ik_node.scene.ik_roots_helper import IKRootsHelper

        values = None if q is None else self._solver.checked_q(q)
        return IKRootsHelper(self, resolution=8).shapes(values)

    def plot(self, axes: Any = None, *, q: Values | None = None) -> Any:
        """
        Draw links, joints, limits, closures and goals with matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes3D, optional
            Axes to draw on, with projection='3d'; None = those of a new figure.
        q : array_like, shape (nq,), or mapping of str to float, optional
            Joint values [rad or m], as in `forward`; None = the present ones.

        Returns
        -------
        Axes3D
            The axes, with the same scale in all directions.

        Raises
        ------
        IkError
            If matplotlib is not installed.
        OptionError
            If the axes are not three-dimensional.
        ShapeError, UnknownFrameError
            If q cannot be used.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.plot().name  # its figure: robot.plot().figure.savefig('arm6.png')
        '3d'

        """
        from ik_node.scene.plot import draw_shapes

        return draw_shapes(self._shapes(q), axes)

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
        wanted = names_in('actuated', names)
        self._solver.arrays_for(())[1].places(wanted)
        for name in wanted:
            master = self._master_of(name)
            if master is not None:
                allowed = f'a joint that follows no other, such as {shown(master)}, its master'
                raise OptionError('actuated', name, allowed)
        self.description.actuated = list(dict.fromkeys(wanted))

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
    def links(self) -> Mapping[str, Link]:
        """Return all links by name."""
        return self.description.links

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Return all joints by name, including fixed ones."""
        return self.description.joints

    @property
    def closures(self) -> Mapping[str, Closure]:
        """Return all closures by name."""
        return self.description.closures

    @property
    def joint_names(self) -> list[str]:
        """Return the names of the joint values, in the order of q."""
        return list(self._solver.joint_names)

    @property
    def lower(self) -> Array:
        """Return the lower limits [rad or m], in the order of q; -inf = none; read-only."""
        return self._read_only(self._solver.limits()[0], 'set_limits')

    @property
    def upper(self) -> Array:
        """Return the upper limits [rad or m], in the order of q; inf = none; read-only."""
        return self._read_only(self._solver.limits()[1], 'set_limits')

    @property
    def max_velocity(self) -> Array:
        """Return the velocity limits [rad/s or m/s], in the order of q; inf = none; read-only."""
        return self._read_only(self._solver.tree.max_velocity, 'max_velocity')

    @property
    def max_effort(self) -> Array:
        """Return the effort limits [N m or N], in the order of q; inf = none; read-only."""
        efforts = [joint._max_effort[dof] for joint, dof in self._solver.tree.owner]
        return self._read_only(np.array(efforts), 'max_effort')

    @staticmethod
    def _read_only(array: Array, name: str) -> Array:
        read_only: Array = fixed_array(array, f"robot.joints['NAME'].{name}, or a copy")
        return read_only

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

    # -- goals

    @property
    def goals(self) -> Mapping[str, Goal]:
        """Return all goals by name."""
        return self._goals.by_name

    def add_goal(
        self,
        link: str,
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
        link : str
            Name of the link.
        name : str, optional
            Name of the goal; the link's name by default.
        kind : {'frame', 'look_at', 'distance', 'centre_of_mass'}
            frame: the link has the goal's pose. look_at: the link's `axis` points at the goal's
            origin, which is initially 1 m ahead. distance: the link's origin is at a `distance`
            from the goal's origin, which is initially at the origin of `base`. centre_of_mass: the
            centre of mass of the link and all links below it is at the goal's origin.
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
            Target distance [m], for kind distance; None = the present distance.
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
        return self._goals.add(
            link,
            name=name,
            kind=kind,
            dof=dof,
            axes=axes,
            base=base,
            offset=offset,
            axis=axis,
            distance=distance,
            weight=weight,
            priority=priority,
            tolerance=tolerance,
        )

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
        self._goals.remove(name)

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
            `ik_node.model.closure`. A hinge turns about z of frame B, a slider moves along it.
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
            raise OptionError('link_b', link_b, f'another link than {shown(link_a)}')
        closure = Closure(f'{link_a}_{link_b}' if name is None else name, type)
        if closure.name in self.closures or closure.name in self.goals:
            raise OptionError('name', closure.name, 'a name that no goal or closure has')
        a, b = (self._link_or_world(each) for each in (link_a, link_b))
        if dof is not None:
            closure.set_dof(*parse_dofs(dof))
        given = [_matrix_of(frame) for frame in (frame_a, frame_b)]
        there = a.matrix_world if given[0] is None else a.matrix_world @ given[0]
        here = b.matrix_world if given[1] is None else b.matrix_world @ given[1]
        if given[0] is None and given[1] is not None and closure.kind != 'distance':
            there = here
        if given[1] is None and closure.kind != 'distance':
            here = there
        if closure.kind == 'distance':
            present = float(np.linalg.norm(there[:3, 3] - here[:3, 3]))
            closure.distance = present if distance is None else distance
        elif distance is not None:
            raise OptionError('distance', distance, f'none for the type {type}')
        closure.tolerance, closure.weight, closure.enabled = tolerance, weight, enabled
        closure.rounding = self.description.rounding
        offset = Frame()
        offset.set_pose(pose_inverse(a.matrix_world) @ there)
        closure.set_offset(offset.position, offset.quaternion)
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
        return self._goals.link(name)

    # -- kinematics

    def _kinematics(self) -> TreePoses:
        """Return the forward kinematics of the present tree."""
        poses, tree = self._poses, self._solver.tree
        if poses is None or poses.tree is not tree:
            poses = self._poses = TreePoses(tree)
        return poses

    def __getstate__(self) -> dict[str, Any]:
        # A copy has a tree of its own.
        return {**self.__dict__, '_poses': None, '_transmissions': {}}

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
            return self._kinematics().poses(rows, self._goals.link(link))
        return self._kinematics().pose(self._solver.checked_q(q), self._goals.link(link))

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
        return self._kinematics().jacobian(self._solver.checked_q(q), self._goals.link(link))

    def reach(
        self,
        link: str,
        *,
        cell: float = 0.025,
        extent: ArrayLike | None = None,
        orientations: int | ArrayLike | None = None,
        goals: Mapping[str, Any] | None = None,
        restarts: int = 20,
        threads: int | None = None,
        executor: Executor | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> ReachVolume:
        """
        Return a map of the positions that a link reaches, in any or in several orientations.

        The search starts at the present configuration and at random ones, see docs/reach.md.

        Parameters
        ----------
        link : str
            Its name.
        cell : float
            Side of the cells [m]. A cell is reached if the link's origin reaches a position in it,
            with an orientation one at most half a cell from its middle.
        extent : array_like, shape (3, 2), optional
            MIN and MAX of the middles of the cells along x, y and z [m], root frame; None = all
            reachable positions.
        orientations : int or array_like, shape (K, 4), optional
            None: any orientation of the link counts. K quaternions xyzw: the link has each of
            these orientations in the root frame. An integer K: the z axis of the link has each of
            K directions, which are evenly spread; the rotation about it is free.
        goals : mapping of str to pose, optional
            Names of further goals or links, and poses that they keep, as in `Solver.solve_pose`.
        restarts : int
            Number of random starts for each position that is searched.
        threads, executor : optional
            As in `Solver.solve_batch`. The results do not depend on them.
        progress : callable, optional
            Called with the number of decided poses and their total number. An exception that it
            raises ends the search, as Ctrl-C does.

        Returns
        -------
        ReachVolume

        Raises
        ------
        UnknownFrameError
            If there is no such link or goal.
        OptionError
            If an argument is not allowed, the link cannot move, the goals cannot be met, or the
            map would be larger than 4 GB.
        ShapeError
            If an array has the wrong shape or is not finite.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> bool(volume.reached.any())
        True

        """
        from ik_node.analysis.reach.search import reach

        return reach(
            self,
            link,
            progress,
            cell=cell,
            extent=extent,
            orientations=orientations,
            goals=goals,
            restarts=restarts,
            threads=threads,
            executor=executor,
        )

    # -- transmission

    def transmission(
        self,
        actuators: Iterable[str] | None = None,
        joints: Iterable[str] | None = None,
        *,
        weights: ArrayLike | None = None,
    ) -> Transmission:
        """
        Return the map of position, velocity and effort between actuators and a joint space.

        Parameters
        ----------
        actuators : iterable of str, optional
            Joints with a motor, or single values of joints; None = those of `actuated` that move
            the joint space.
        joints : iterable of str, optional
            The joint space: joints, single values of joints, or links, whose poses then count;
            None = every joint value.
        weights : array_like, shape (n_actuators,), optional
            Weights of the squared efforts, for more actuators than degrees of freedom; None = 1.

        Raises
        ------
        UnknownFrameError
            If a name is neither a joint nor a link.
        TopologyError
            If an actuator moves nothing, or a joint or link is not determined by the actuators or
            in no loop with them.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> len(transmission.actuators)
        2

        """
        from ik_node.transmission.transmission import Transmission

        motors = self.actuated if actuators is None else actuators
        if actuators is None and motors and joints is not None:
            joints = names_in('joints', joints)
            motors = self._motors(None).actuators_of(joints) or motors
        return Transmission(self._solver, motors, joints, weights)

    def _motors(self, actuators: Iterable[str] | None) -> Transmission:
        """Return the transmission to all joints, made once for each set of actuators."""
        key = tuple(self.actuated) if actuators is None else names_in('actuators', actuators)
        known: Transmission | None = self._transmissions.get(key)
        if known is None:
            known = self._transmissions[key] = self.transmission(key)
        return known

    def velocity(
        self, q: Values, actuator_velocity: ArrayLike, actuators: Iterable[str] | None = None
    ) -> Array:
        """
        Return the velocities of all joints that follow from those of the actuators.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        actuator_velocity : array_like, shape (n_actuators,)
            [rad/s or m/s]
        actuators : iterable of str, optional
            Joints with a motor; None = `actuated`.

        Returns
        -------
        ndarray, shape (nq,)
            [rad/s or m/s]

        Raises
        ------
        TopologyError, ShapeError, OptionError
            As for `transmission` and `Transmission.jacobian`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> robot.velocity(robot.q, [0.1, 0.2]).round(3).tolist()
        [0.1, 0.025, 0.2, -0.167]

        """
        motion = self._motors(actuators).motion(q)
        return motion @ finite('actuator_velocity', actuator_velocity, motion.shape[1])

    def link_jacobian(self, q: Values, link: str, actuators: Iterable[str] | None = None) -> Array:
        """
        Return the geometric Jacobian of a link's origin by the actuators, with closed loops.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        link : str
            Its name.
        actuators : iterable of str, optional
            Joints with a motor; None = `actuated`.

        Returns
        -------
        ndarray, shape (6, n_actuators)
            Linear rows [m], then angular rows [rad], root axes, per [rad or m].

        Raises
        ------
        UnknownFrameError, TopologyError, ShapeError, OptionError
            As for `forward`, `transmission` and `Transmission.jacobian`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> robot.link_jacobian(robot.q, 'tool_link')[:2].round(3).tolist()  # vx and vy by motors
        [[-0.123, -0.123], [-0.123, 0.123]]

        """
        jacobian = self.jacobian(q, link)
        return jacobian @ self._motors(actuators).motion(q)

    def wrench_to_actuators(
        self, q: Values, link: str, wrench: ArrayLike, actuators: Iterable[str] | None = None
    ) -> Array:
        """
        Return the efforts of the actuators that hold a wrench which acts on a link.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        link : str
            Its name.
        wrench : array_like, shape (6,), or (force, torque)
            Force [N] at the link's origin and torque [N m], root axes.
        actuators : iterable of str, optional
            Joints with a motor; None = `actuated`.

        Returns
        -------
        ndarray, shape (n_actuators,)
            -J^T wrench [N m or N], without gravity.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> robot.wrench_to_actuators(robot.q, 'tool_link', (1, 2, 0, 0, 0, 0)).round(3).tolist()
        [0.369, -0.124]

        """
        given = finite('wrench', np.ravel(numbers('wrench', wrench)), 6)
        return -(self.link_jacobian(q, link, actuators).T @ given)

    def gravity_effort(
        self,
        q: Values,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        actuators: Iterable[str] | None = None,
    ) -> Array:
        """
        Return the efforts of the actuators that hold the robot still against gravity.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        gravity : array_like, shape (3,)
            Acceleration of free fall, root axes [m/s^2].
        actuators : iterable of str, optional
            Joints with a motor; None = `actuated`.

        Returns
        -------
        ndarray, shape (n_actuators,)
            The derivative of the potential energy by the actuators [N m or N].

        Raises
        ------
        TopologyError
            If no link has a mass, or as for `transmission`.
        ShapeError, OptionError
            As for `Transmission.jacobian`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.gravity_effort(robot.q, actuators=robot.joint_names)[1:3].round(1).tolist()
        [-56.6, -21.9]

        """
        fall = finite('gravity', gravity, 3)
        bodies = [link for link in self.links.values() if link.mass > 0.0]
        if not bodies:
            raise TopologyError(
                f'{shown(self.name)} has no mass: give the links of the description an '
                '<inertial>, or set Link.mass'
            )
        motion = self._motors(actuators).motion(q)
        weight = self._kinematics().weight_effort(self._solver.checked_q(q), bodies, fall)
        return -(motion.T @ weight)

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
        links = self.links.values() if link is None else self._goals.link(link).links_below()
        bodies = [body for body in links if body.mass > 0.0]
        if not bodies:
            raise TopologyError(
                f'{shown(link or self.name)} has no mass, so no centre of mass: give the '
                f'links of the '
                'description an <inertial>, or set Link.mass'
            )
        poses = kinematics.at(kinematics.values(checked))
        return kinematics.centre_of_mass(poses, bodies)

    # -- loops

    def assemble(self) -> Assembly:
        """
        Close all loops, starting from the present values, within limits, and keep the result.

        Returns
        -------
        Assembly
            Result for all loops; `message` names every open loop and the reason.

        Examples
        --------
        >>> import ik_node as ik
        >>> ik.load_robot('hexapod', assemble=False).assemble().converged
        True

        """
        self.assembly = close_loops(self._solver)
        return self.assembly

    @property
    def mobility(self) -> Mobility:
        """
        Return the degrees of freedom at the present configuration with closed loops.

        It is the number of free values minus the rank of the closures' Jacobian; locked and
        coupled values are not free. The result is an int with details, see `Mobility`.
        """
        from ik_node.analysis.mobility import mobility_of

        return mobility_of(self._solver, self.closures)

    @property
    def redundancies(self) -> tuple[Redundancy, ...]:
        """Return the closures with redundant rows that agree only up to rounding."""
        return self._solver.redundancies

    @property
    def rounding(self) -> float:
        """Return the largest disagreement of redundant rows of closures [m or rad]."""
        return max((each.largest for each in self.redundancies), default=0.0)

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
        from ik_node.description.writers.closures_yaml import to_closures

        return to_closures(self.description)


def as_robot(source: Any) -> Robot:
    """
    Return a robot, or make one from frames or from a solver of frames.

    Raises
    ------
    OptionError
        If it is something else, such as a path.

    """
    if isinstance(source, Robot):
        return source
    try:
        return Robot(source.roots if isinstance(source, Solver) else source)
    except (TopologyError, OptionError) as error:
        if isinstance(source, (Solver, Frame, list, tuple)):
            raise
        allowed = 'a Robot, which load_robot(source) returns, or frames'
        raise OptionError('robot', source, allowed) from error


def _matrix_of(pose: Any) -> Array | None:
    """Return a pose of any form as a matrix (4, 4); None = not given."""
    if pose is None:
        return None
    frame = Frame('frame of a closure')
    frame.set_pose(pose)
    return frame.matrix


def load_robot(
    source: str | Path,
    *,
    closures: str | Path | Mapping[str, Any] | None = None,
    root: str = 'fixed',
    trim_unused: bool = False,
    assemble: bool = True,
    prefix: str = '',
    max_bytes: int = MAX_BYTES,
    xacro_seconds: float = XACRO_SECONDS,
) -> Robot:
    """
    Load a robot description with its loops.

    Parameters
    ----------
    source : str or Path
        A file, the text itself, which begins with '<', or the name of a robot that is installed
        with the package, such as 'hexapod' (`ik_node demo --list`). A xacro file is expanded,
        which runs the Python code in it; a text that contains xacro is refused.
    closures : str, Path or mapping, optional
        Closure annotations, which replace every loop declared in the description.
    root : {'fixed', 'floating'}
        floating: the base has six degrees of freedom.
    trim_unused : bool
        Whether to remove branches without movable joints; their masses are added to the links that
        carried them.
    assemble : bool
        Whether to close the loops, starting from the description's values, because they are
        usually open at zero. `Robot.assembly` has the result.
    prefix : str
        Put before the name of every link, joint and closure, so that two equal robots can be
        parts of one, see `combine`. Closure annotations name them without it.
    max_bytes : int
        Larger descriptions raise DescriptionError.
    xacro_seconds : float
        Time limit of the expansion of a xacro file [s].

    Raises
    ------
    DescriptionError
        If the description or the annotations are not valid.
    TopologyError
        If the graph cannot be solved.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('hexapod')
    >>> len(robot.closures), int(robot.mobility)
    (6, 6)

    """

    def read(exact_angles: bool = False) -> Robot:
        return Robot(
            read_description(
                source,
                closures=closures,
                root=root,
                trim_unused=trim_unused,
                max_bytes=max_bytes,
                xacro_seconds=xacro_seconds,
                exact_angles=exact_angles,
                prefix=prefix,
            )
        )

    robot = read()
    if robot.description.rounded_angles and robot.redundancies:
        exact = read(exact_angles=True)
        if exact.rounding < robot.rounding:
            robot = exact
    if assemble and (robot.closures or robot._solver.tree.sums):
        pose = FilePose(robot.joint_order, robot.closures)
        robot.assemble()
        robot.file_gaps = pose.gaps()
        robot.description.notes += gap_notes(robot.file_gaps)
    return robot


def combine(
    *robots: Robot, base: str = 'world', poses: Mapping[str, Any] | Sequence[Any] | None = None
) -> Robot:
    """
    Return one robot that consists of copies of several, such as two arms on one table.

    The copies keep their joint values, limits, targets, closures and goals. The names of the
    robots must differ: load one of two equal robots with a `prefix`. A loop between them is made
    with `Robot.add_closure`.

    Parameters
    ----------
    *robots : Robot
        Two or more robots, which are not changed.
    base : str
        The link that carries them all. If no robot has a link of this name, it is added as the
        root. If one has it, such as the flange of an arm, that robot carries the others.
    poses : sequence of poses or None, or mapping of str to pose, optional
        Pose of each robot's root frame in the base: (position (3,) [m], quat_xyzw (4,)) or another
        form, see `Frame.set_pose`; None = that of the base. In the order of the robots, or by the
        name of a robot or of its root link. That of the robot that has the base is in the root
        frame.

    Returns
    -------
    Robot
        Its joint values are those of the robots one after the other.

    Raises
    ------
    TopologyError
        If two robots have a link, joint, closure or goal of the same name, or the poses are not
        one for each robot.
    ShapeError
        If a pose has none of the forms.

    Examples
    --------
    >>> import ik_node as ik
    >>> left = ik.load_robot('arm6', prefix='left_')
    >>> right = ik.load_robot('arm6', prefix='right_')
    >>> pair = ik.combine(left, right, poses=[None, ((0, -0.8, 0), (0, 0, 0, 1))])
    >>> len(pair.joint_names)
    12

    """
    from ik_node.description.combine import combine as join
    from ik_node.description.combine import poses_of, refuse_equal

    for each in robots:
        if not isinstance(each, Robot):
            raise OptionError('robot', each, 'a Robot; load_robot returns one')
    if not robots:
        raise OptionError('robots', robots, 'two or more robots')
    copies = [deepcopy((each.description, dict(each.goals))) for each in robots]
    descriptions = [description for description, _ in copies]
    placed = []
    for number, pose in enumerate(poses_of(descriptions, poses)):
        place = Frame(f'poses[{number}]')
        if pose is not None:
            place.set_pose(pose)
        placed.append(place.matrix)
    before = [description.root.matrix_world for description in descriptions]
    found = Robot(join(descriptions, base, placed))
    goals: dict[str, tuple[Goal, str]] = {}
    for at, (description, own) in enumerate(copies):
        moved = description.root.matrix_world @ pose_inverse(before[at])
        for name, goal in own.items():
            if name in goals:
                refuse_equal('goal', name, goals[name][1], description.name)
            goals[name] = goal, description.name
            if goal.parent is None:
                goal.set_pose(moved @ goal.matrix)
            found._goals.by_name[name] = goal
    found._start = {name: value for each in robots for name, value in each._start.items()}
    if found.closures:
        found.assemble()
    return found


def from_dh(
    rows: ArrayLike,
    *,
    convention: str = 'standard',
    order: str | Sequence[str] = 'd a alpha theta',
    degrees: bool = False,
    limits: ArrayLike | None = None,
    joints: str | None = None,
    signs: ArrayLike | None = None,
) -> Robot:
    """
    Return an arm with a given Denavit-Hartenberg table.

    Its links are link0 (the root) to linkn, its joints are joint1 to jointn. Link i is frame i of
    the table, so linkn is the tool frame.

    Parameters
    ----------
    rows : array_like, shape (n, 4)
        One row per joint, [m] and [rad]. theta of a revolute joint and d of a prismatic joint are
        their values at q = 0.
    convention : {'standard', 'modified'}
        standard: T = Rz(theta) Tz(d) Tx(a) Rx(alpha). modified (Craig's):
        T = Rx(alpha) Tx(a) Rz(theta) Tz(d), where row i has alpha_(i-1) and a_(i-1) in Craig's
        numbering.
    order : str or sequence of str
        Order of the columns: d, a, alpha and theta in any order.
    degrees : bool
        Whether alpha, theta and the limits of revolute joints are in degrees.
    limits : array_like, shape (n, 2), optional
        Lower and upper limit of every joint value [rad or m]; infinite = no limit.
    joints : str, optional
        'R' (revolute about z) or 'P' (prismatic along z) for every row, as in 'RRPR'; None = all
        revolute.
    signs : array_like, shape (n,), optional
        1 or -1 for every row: with -1 the joint moves against z, so that theta or d of the table
        decreases by the joint value. None = 1 for all.

    Raises
    ------
    ShapeError
        If rows or limits have the wrong shape or contain NaN.
    OptionError
        If convention, order, joints or signs are not valid, or a lower limit is above its upper
        limit.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.from_dh([(0.3, 0, 90, 0), (0, 0.4, 0, 0), (0, 0.3, 0, 0)], degrees=True)
    >>> robot.joint_names
    ['joint1', 'joint2', 'joint3']

    """
    from ik_node.description.dh import read_dh

    return Robot(
        read_dh(
            rows,
            convention=convention,
            order=order,
            degrees=degrees,
            limits=limits,
            joints=joints,
            signs=signs,
        )
    )

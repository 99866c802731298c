"""The class Robot, which combines description, model and solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, TYPE_CHECKING

from ik_node.analysis.analysed_robot import AnalysedRobot
from ik_node.analysis.file_pose import FilePose, gap_notes
from ik_node.description.read import read_description
from ik_node.description.sidecars.obstacles import read_obstacles
from ik_node.description.visuals import read_srdf
from ik_node.description.xacro_source import XACRO_SECONDS
from ik_node.description.xml_document import MAX_BYTES
from ik_node.display import html_table, html_text, public_names, Rows, table
from ik_node.errors import counted, DescriptionError, IkError, listed, OptionError, TopologyError
from ik_node.model.frame import Frame, matrix_of
from ik_node.model.rotation import pose_inverse
from ik_node.solver.pose import Values
from ik_node.solver.solver import Solver
from ik_node.transmission.actuated_robot import ActuatedRobot
import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from ik_node.analysis.reach.volume import ReachVolume
    from ik_node.scene.preview import MovingPicture

Array = NDArray[np.float64]


class Robot(AnalysedRobot, ActuatedRobot):
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
    >>> gripper.collisions.pairs
    []

    """

    __dir__ = public_names

    def __repr__(self) -> str:
        return '\n'.join([self._headline(), *table(self._rows())])

    def _repr_html_(self) -> str:
        from ik_node.scene.plot import html_picture

        return html_text(self._headline()) + html_picture(self) + html_table(self._rows())

    def _headline(self) -> str:
        lines = [f'Robot {self.name!r} ({self.dialect})']
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
                rows.append((name, joint.describe_value(dof), motor))
        except IkError:  # the headline gives the reason
            return []
        return rows

    def plot(self, axes: Any = None, *, q: Values | None = None) -> Any:
        """
        Draw the robot with matplotlib: `ik_node.plot` with this robot.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.plot().name  # its figure: robot.plot().figure.savefig('arm6.png')
        '3d'

        """
        import ik_node

        return ik_node.plot(self, axes, q=q)

    def animate(self, q: ArrayLike, seconds: float = 2.0) -> MovingPicture:
        """
        Draw a motion as a moving picture, which a notebook shows without a server.

        Parameters
        ----------
        q : array_like, shape (N, nq)
            Joint values [rad or m] at equal times, such as `PathSolution.q`.
        seconds : float
            Duration of the picture [s]; it has 10 frames a second.

        Returns
        -------
        MovingPicture
            A GIF; `save('robot.gif')` writes it.

        Raises
        ------
        IkError
            If matplotlib is not installed.
        ShapeError
            If q has another shape or numbers that are not finite.

        Examples
        --------
        >>> import ik_node as ik, numpy as np
        >>> robot = ik.load_robot('fivebar')
        >>> swing = robot.q + np.sin(np.linspace(0, 6.28, 5))[:, None] * [0.3, 0, 0, 0]
        >>> robot.animate(swing, seconds=0.2)
        MovingPicture(2 frames)

        """
        from ik_node.scene.preview import animated

        return animated(self, q, seconds)

    def view(
        self, *, host: str = '127.0.0.1', port: int = 8080, reach: ReachVolume | None = None
    ) -> Any:
        """
        Show the robot on a page in the browser, or below the cell of a notebook: `ik_node.view`.

        Examples
        --------
        >>> import ik_node as ik
        >>> page = ik.load_robot('hexapod').view(port=0)  # doctest: +SKIP

        """
        import ik_node

        return ik_node.view(self, host=host, port=port, reach=reach)


def as_robot(source: Any) -> Robot:
    """Return a robot, or one of frames or of a solver; raise OptionError for anything else."""
    if isinstance(source, Robot):
        return source
    try:
        return Robot(source.roots if isinstance(source, Solver) else source)
    except (TopologyError, OptionError) as error:
        if isinstance(source, (Solver, Frame, list, tuple)):
            raise
        allowed = 'a Robot, which load_robot(source) returns, or frames'
        raise OptionError('robot', source, allowed) from error


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
    srdf: str | Path | None = None,
    obstacles: str | Path | None = None,
) -> Robot:
    """
    Load a robot description with its loops.

    Parameters
    ----------
    source : str or Path
        A file, the text itself, which begins with '<', or the name of a robot that is installed
        with the package, such as 'hexapod' (`ik_node models`), or of the package
        robot_descriptions, such as 'ur5e_description'. A xacro file is expanded,
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
    srdf : str or Path, optional
        A file, or the text itself, that excludes pairs of links from collisions; solvers then
        avoid the others. An SRDF of the same name beside a URDF excludes pairs, too, but does not
        make solvers avoid collisions. See docs/collisions.md.
    obstacles : str or Path, optional
        A YAML file of obstacles; None = NAME.obstacles.yaml beside a description NAME, if there is
        one.

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
    read = partial(
        read_description,
        source,
        closures=closures,
        root=root,
        trim_unused=trim_unused,
        max_bytes=max_bytes,
        xacro_seconds=xacro_seconds,
        prefix=prefix,
    )
    robot = Robot(read())
    if robot.description.rounded_angles and robot.redundancies:
        exact = Robot(read(exact_angles=True))
        if exact.rounding < robot.rounding:
            robot = exact
    if assemble and (robot.closures or robot._solver.tree.sums):
        pose = FilePose(robot.joint_order, robot.closures)
        robot.assemble()
        robot.file_gaps = pose.gaps()
        robot.description.notes += gap_notes(robot.file_gaps)
    if srdf is not None:
        if not isinstance(srdf, (str, Path)):
            raise OptionError('srdf', srdf, 'the path of an SRDF, or its text')
        text, name = (srdf, '<text>') if str(srdf).lstrip().startswith('<') else (None, str(srdf))
        try:
            pairs = read_srdf(Path(srdf).read_bytes() if text is None else str(text), name)
        except OSError as error:
            raise DescriptionError(f'cannot be read: {error.strerror}', source=name) from None
        robot.collisions.exclude({(prefix + a, prefix + b): why for (a, b), why in pairs.items()})
    beside = Path(robot.description.sources[0].name).with_suffix('.obstacles.yaml')
    if obstacles is not None or beside.is_file():
        around = read_obstacles(beside if obstacles is None else obstacles, robot.links)
        robot.collisions.surround(around, frozenset())
    return robot


def combine(
    *robots: Robot, base: str = 'world', poses: Mapping[str, Any] | Sequence[Any] | None = None
) -> Robot:
    """
    Return one robot that consists of copies of several, such as two arms on one table.

    The copies keep their joint values, limits, targets, closures, goals, bodies and obstacles. The
    names of the robots must differ: load one of two equal robots with a `prefix`. A loop between
    them is made with `Robot.add_closure`.

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
    given = enumerate(poses_of(descriptions, poses))
    placed = [matrix_of(f'poses[{number}]', pose) for number, pose in given]
    before = [description.root.matrix_world for description in descriptions]
    result = Robot(join(descriptions, base, placed))
    owners: dict[tuple[str, str], int] = {}
    for index, (description, own) in enumerate(copies):
        moved = description.root.matrix_world @ pose_inverse(before[index])
        for kind, names in (('goal', own), ('obstacle', robots[index].collisions.obstacles)):
            for name in names:
                first = owners.setdefault((kind, name), index)
                one, other = descriptions[first].name, description.name
                refuse_equal(kind, name, one, other, first != index)
        for name, goal in own.items():
            if goal.parent is None:
                goal.set_pose(moved @ goal.matrix)
            result._goals[name] = goal
        result.collisions.join(robots[index].collisions, moved)
    result._start = {name: value for each in robots for name, value in each._start.items()}
    if result.closures:
        result.assemble()
    return result


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

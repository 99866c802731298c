"""The bodies of a robot and its surroundings, and the pairs whose distance counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations
from threading import RLock
from typing import Any, get_args, NamedTuple

from ik_node.display import public_names
from ik_node.errors import counted, listed, OptionError, ShapeError, UnknownFrameError
from ik_node.kernels.layout import LARGEST, make_workspace, RESULT
from ik_node.model.bodies import Core, core_of, HalfSpace, same_shape, Shape
from ik_node.model.chains import ancestors
from ik_node.model.constraint import Closure
from ik_node.model.flatten import FlatBodies, flatten_links, frame12, write_body_frames
from ik_node.model.frame import matrix_of
from ik_node.model.link import Link
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.tree import Tree
from ik_node.native import bind, BoundKernels
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Pairs that are farther apart are left out of `distances` [m].
NEAR = 0.05
# A distance below this less than the margin is a contact [m].
CONTACT = 1e-6
# Reach of a measurement that leaves out no pair [m].
FAR = 1e12
# Closed configurations in all of which a pair must touch to be left out.
SAMPLES = 100
# Overestimates of hulls above this are reported [m].
REPORTED = 1e-4

# Depth that a way may lead through a body [m], and most configurations of it that are measured.
GRAZING, MOST_SAMPLES = 1e-4, 1000

TOUCHES = 'touches in every one of many closed configurations'
IGNORED = 'ignored by the user'
ALLOWED = 'allowed by the planning scene'
JOINED = 'joined by a joint', 'joined by a closure'
TOGETHER = 'the links do not move against each other'


class Distance(NamedTuple):
    """
    The distance of two bodies.

    Attributes
    ----------
    pair : (str, str)
        Their links or obstacles.
    d : float
        Distance [m]; where they overlap, minus the penetration depth.
    points : ndarray, shape (2, 3)
        Nearest points of both, root frame [m].

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> robot.collisions.add_body('tool_link', ik.Sphere(0.05))
    >>> floor = robot.collisions.add_obstacle(ik.HalfSpace(), name='floor')
    >>> nearest, *_ = robot.collisions.distances(reach=5.0)
    >>> nearest.pair, nearest.d > 0.0, nearest.points.shape
    (('tool_link', 'floor'), True, (2, 3))

    """

    pair: tuple[str, str]
    d: float
    points: Array

    def __str__(self) -> str:
        return f'{self.pair[0]!r} and {self.pair[1]!r} are {self.d:.4g} m apart'


@dataclass
class Body:
    """
    A convex body.

    Attributes
    ----------
    name : str
        Name of its link or obstacle.
    shape : Shape
    pose : ndarray, shape (4, 4)
        Pose of the shape in the link, or in the root frame.
    link : Link or None
        None = an obstacle.
    bits, with_own : tuple of int, bool
        As in `description.mesh_path.Visual`.
    added : bool
        True for a body that the user has added to a link.
    core : Core
        The shape as the kernels take it.

    """

    name: str
    shape: Shape
    pose: Array
    link: Link | None = None
    bits: tuple[int, int] = (1, 1)
    with_own: bool = True
    added: bool = False
    core: Core = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.core = core_of(self.shape)

    def core_pose(self, carrier: Array) -> Array:
        """Return the pose (4, 4) of the core, given that of the link or of the root frame."""
        pose: Array = carrier @ self.pose
        pose[:3, 3] += pose[:3, :3] @ self.core.centre
        return pose


class Obstacle:
    """
    A body of the surroundings, which `Collisions.add_obstacle` returns.

    Attributes
    ----------
    name : str
    shape : Shape

    """

    def __init__(self, owner: Collisions, body: Body) -> None:
        self.name, self.shape = body.name, body.shape
        self._owner, self._body = owner, body

    __dir__ = public_names

    def __repr__(self) -> str:
        return f'Obstacle({self.name!r}, {self.shape})'

    @property
    def matrix(self) -> Array:
        """Return a copy of the pose in the root frame, shape (4, 4)."""
        return self._body.pose.copy()

    def set_pose(self, pose: Any) -> None:
        """
        Move the obstacle; it counts from the next solve on.

        Parameters
        ----------
        pose : pose
            In the root frame: a position (3,), or a form of `Frame.set_pose`.

        Raises
        ------
        ShapeError
            If the pose has none of the forms.

        """
        self._body.pose = _matrix(pose)
        self._owner._moved()

    def remove(self) -> None:
        """Remove the obstacle."""
        self._owner.remove(self.name)


# Pairs of links, and why they do not count; None = they do. The pair of a link with itself stands
# for all others of the link.
Rules = dict[tuple[str, str], str | None]
# Bodies of a description, notes on what cannot be used, and what it says of pairs.
Geometry = tuple[list[Body], list[str], Rules]


def _matrix(pose: Any) -> Array:
    """Return a pose as a matrix; a position alone has the axes of the root frame."""
    given = None if pose is None else position_and_quat('pose', pose, turns=False)
    matrix = matrix_of('pose', given)
    if not np.abs(matrix).max() <= LARGEST:
        raise ShapeError('pose', f'a position within {LARGEST:g} m', str(matrix[:3, 3]))
    return matrix.copy()


class Collisions:
    """
    The bodies of a robot and its surroundings, and the pairs whose distance counts.

    `Robot.collisions` is one. Bodies are the collision geometry of the description, read when they
    are first needed. All pairs of bodies on different links count, except those that `removed`
    lists with the reason: the links are joined by a joint or closure, or move together; the
    description excludes them; the user ignores them; or they touch in every one of many closed
    configurations.

    Parameters
    ----------
    solver : Solver
        The one of the robot that avoids no collisions.
    read, sample : callable
        Read the description, and return so many configurations with closed loops.

    Attributes
    ----------
    in_use : bool
        True if solvers avoid collisions by default: there is an obstacle, or the user has chosen
        pairs.
    version, moves : int
        Number of changes of bodies and pairs, and of poses of obstacles.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> ball = robot.collisions.add_obstacle(ik.Sphere(0.1), pose=(0.4, 0.0, 0.4), name='ball')
    >>> robot.collisions.in_use, robot.collisions.obstacles
    (True, ['ball'])
    >>> robot.collisions.add_body('tool_link', ik.Sphere(0.05))
    >>> robot.collisions.pairs, robot.collisions.removed, len(robot.collisions.bodies)
    ([('tool_link', 'ball')], {}, 2)
    >>> robot.collisions.notes, robot.collisions.contacts(margin=0.01)
    ([], [])
    >>> robot.collisions.ignore('tool_link', 'ball')
    >>> robot.collisions.enable('tool_link', 'ball')
    >>> robot.collisions.obstacle('ball').set_pose((0.4, 0.0, 0.1))
    >>> [each.pair for each in robot.collisions.distances(reach=1.0)]
    [('tool_link', 'ball')]
    >>> robot.collisions.remove('ball')

    """

    _internal = (
        'avoided',
        'count_contacts',
        'exclude',
        'flat',
        'free_share',
        'join',
        'measured',
        'nearest',
        'surround',
        'surroundings',
    )

    def __init__(
        self, solver: Any, read: Callable[[], Geometry], sample: Callable[[int], Array]
    ) -> None:
        self._solver, self._read, self._sample = solver, read, sample
        # Solvers of several threads measure with one workspace.
        self._lock = RLock()
        self._loaded = self._sampled = False
        self._bodies: list[Body] = []
        self._obstacles: dict[str, Body] = {}
        self._excluded: dict[frozenset[str], str | None] = {}
        self._chosen: dict[frozenset[str], str | None] = {}  # None = enabled
        self._touching: dict[frozenset[str], str] = {}
        self._allowed: frozenset[frozenset[str]] = frozenset()
        self._notes: list[str] = []
        self.version = self.moves = 0
        self._given = False  # True if the user has given an SRDF, or a body of a link
        self.in_use = False
        self._forget()

    __dir__ = public_names

    def __getstate__(self) -> dict[str, Any]:
        made = '_lock', '_model', '_arrays', '_bounds', '_checked'
        return vars(self) | dict.fromkeys(made)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = RLock()

    def __repr__(self) -> str:
        first = (
            f'{counted(len(self.bodies), "body").replace("bodys", "bodies")}, obstacles: '
            f'{listed(self._obstacles)}, {counted(len(self.pairs), "pair")} of links'
        )
        rules = Counter(self.removed.values()).items()
        left_out = [f'  {counted(count, "pair")} left out: {rule}' for rule, count in rules]
        return '\n'.join([first, *self.notes, *left_out])

    def avoided(self, chosen: bool | None) -> bool:
        """Return True if solvers with this option `avoid_collisions` avoid collisions."""
        return self.in_use if chosen is None else chosen

    # -- bodies

    @property
    def bodies(self) -> list[Body]:
        """Return the bodies of links, then the obstacles."""
        self._load()
        return [*self._bodies, *self._obstacles.values()]

    @property
    def obstacles(self) -> list[str]:
        """Return the names of the obstacles."""
        return list(self._obstacles)

    @property
    def notes(self) -> list[str]:
        """Return shapes that cannot be used, and hulls that are larger than their points."""
        bodies = self.bodies
        return self._notes + [
            f'the hull of {each.name!r} is reduced to {len(each.core.points)} points: at most '
            f'{each.core.overestimate:.2g} m too large'
            for each in bodies
            if each.core.overestimate > REPORTED
        ]

    def _load(self) -> None:
        """Read the bodies of the description and find the pairs that always touch, once."""
        if self._loaded:
            return
        self._loaded = True
        bodies, notes, excluded = self._read()
        links = self._links()
        for body in bodies:
            body.link = links.get(body.name)
        self._bodies += [body for body in bodies if body.link is not None]
        self._notes += notes
        self._excluded = {frozenset(pair): why for pair, why in excluded.items()} | self._excluded
        self._forget()

    def _find_touching(self) -> None:
        """Find the pairs of links that touch in every one of many closed configurations."""
        self._sampled = True
        names = {body.name for body in self._bodies}
        pairs = {each.pair for each in self.contacts() if names.issuperset(each.pair)}
        touched, count = self.count_contacts(SAMPLES) if pairs else ({}, 0)
        always = (pair for pair in pairs if touched.get(pair, 0) == count)
        self._touching = {frozenset(pair): TOUCHES for pair in always}
        if self._touching:
            self._forget()

    def count_contacts(self, samples: int) -> tuple[dict[tuple[str, str], int], int]:
        """Return in how many random closed configurations each pair touches, and their number."""
        closed = self._sample(samples)
        touched = ({each.pair for each in self.contacts(q)} for q in closed)
        return Counter(chain.from_iterable(touched)), len(closed)

    def add_body(self, link: str, shape: Shape, pose: Any = None) -> None:
        """
        Add a body to a link, such as a box in a gripper; solvers then avoid collisions.

        Parameters
        ----------
        link : str
            Name of the link.
        shape : Box, Sphere, Capsule, Cylinder, Hull or Mesh
            The body, in its own frame.
        pose : pose, optional
            In the link: a position (3,), or a form of `Frame.set_pose`; None = the link's frame.

        Raises
        ------
        OptionError, ShapeError
            As in `add_obstacle`.
        UnknownFrameError
            If there is no such link.

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm6').collisions
        >>> collisions.add_body('tool_link', ik.Sphere(0.05), (0.0, 0.0, 0.02))

        """
        self._load()
        links = self._links()
        if link not in links:
            raise UnknownFrameError(link, links, 'link')
        if isinstance(shape, HalfSpace) or not isinstance(shape, get_args(Shape)):
            raise OptionError('shape', shape, 'Box, Sphere, Capsule, Cylinder, Hull or Mesh')
        self._bodies.append(Body(link, shape, _matrix(pose), links[link], added=True))
        self._given, self._sampled, self._touching = True, False, {}
        self._changed()

    def add_obstacle(self, shape: Shape, pose: Any = None, name: str | None = None) -> Obstacle:
        """
        Add a body to the surroundings; solvers then avoid collisions.

        Parameters
        ----------
        shape : Box, Sphere, Capsule, Cylinder, Hull, Mesh or HalfSpace
            The body, in its own frame.
        pose : pose, optional
            In the root frame: a position (3,), or a form of `Frame.set_pose`; None = that frame.
        name : str, optional
            None = obstacle1, obstacle2, ...

        Returns
        -------
        Obstacle

        Raises
        ------
        OptionError
            If it is no shape, or the name is taken by a link or an obstacle.
        ShapeError
            If the pose has none of the forms.

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm6').collisions
        >>> collisions.add_obstacle(ik.Sphere(0.1), (0.4, 0.0, 0.4), name='ball').name
        'ball'

        """
        if not isinstance(shape, get_args(Shape)):
            allowed = 'Box, Sphere, Capsule, Cylinder, Hull, Mesh or HalfSpace'
            raise OptionError('shape', shape, allowed)
        names = {*self._obstacles, *self._links()}
        if name is None:
            free = (f'obstacle{k}' for k in range(1, len(names) + 2))
            name = next(each for each in free if each not in names)
        if str(name) != name or name in names:
            raise OptionError('name', name, 'a name that no link and no obstacle has')
        body = Body(name, shape, _matrix(pose), None)
        self._obstacles[name] = body
        self._changed()
        return Obstacle(self, body)

    def obstacle(self, name: str) -> Obstacle:
        """
        Return an obstacle.

        Raises
        ------
        UnknownFrameError
            If there is no such obstacle.

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm6').collisions
        >>> made = collisions.add_obstacle(ik.Sphere(0.1), name='ball')
        >>> collisions.obstacle('ball').name
        'ball'

        """
        if name not in self._obstacles:
            raise UnknownFrameError(name, self._obstacles, 'obstacle')
        return Obstacle(self, self._obstacles[name])

    def remove(self, name: str) -> None:
        """
        Remove an obstacle.

        Raises
        ------
        UnknownFrameError
            If there is no such obstacle.

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm6').collisions
        >>> made = collisions.add_obstacle(ik.Sphere(0.1), name='ball')
        >>> collisions.remove('ball')

        """
        del self._obstacles[self.obstacle(name).name]
        self._changed()

    def surroundings(self) -> tuple[dict[str, tuple[Shape, Array]], frozenset[frozenset[str]]]:
        """Return shapes and poses of the obstacles, and the allowed pairs, for `surround`."""
        return {n: (each.shape, each.pose) for n, each in self._obstacles.items()}, self._allowed

    def surround(
        self, scene: Mapping[str, tuple[Shape, Array]], allowed: frozenset[frozenset[str]]
    ) -> dict[str, str]:
        """
        Make the obstacles and the pairs of names that may touch exactly these.

        Return why obstacles are left out, by name; equal ones stay as they are.
        """
        for name in self.obstacles:
            if name not in scene or not same_shape(self._obstacles[name].shape, scene[name][0]):
                self.remove(name)
        refused = {}
        for name, (shape, pose) in scene.items():
            try:
                if name not in self._obstacles:
                    self.add_obstacle(shape, pose, name)
                elif not np.array_equal(self._obstacles[name].pose, pose):
                    self.obstacle(name).set_pose(pose)
            except OptionError as error:
                refused[name] = str(error)
        if allowed != self._allowed:
            self._allowed = allowed
            self._changed()
        return refused

    def _links(self) -> dict[str, Link]:
        tree = self._solver.tree
        return {frame.name: frame for frame in tree.carrier if isinstance(frame, Link)}

    def _changed(self) -> None:
        enabled = any(rule is None for rule in self._chosen.values())
        self.in_use = bool(self._obstacles) or enabled or self._given
        self.version += 1
        self._forget()
        self._solver.revision.count_graph_edit()

    def _moved(self) -> None:
        self.moves += 1
        with self._lock:
            if self._checked is not None:
                flat, bodies = self._checked[0], self._bodies
                for at, body in enumerate(self._obstacles.values(), len(bodies)):
                    flat.frames[at] = frame12(body.core_pose(np.eye(4)))
                if self._model is not None:
                    write_body_frames(*self._arrays, flat, 1.0)
        self._solver.revision.count_constraint()

    def _forget(self) -> None:
        self._model: tuple[BoundKernels, Array, Array] | None = None
        self._bounds: tuple[bytes, Array] | None = None
        self._checked: tuple[FlatBodies, dict[tuple[str, str], str], Tree] | None = None

    # -- pairs

    def ignore(self, one: str, other: str) -> None:
        """
        Leave out the pairs of two links, or of a link and an obstacle.

        Raises
        ------
        UnknownFrameError
            If there is no such link or obstacle.

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm6').collisions
        >>> collisions.ignore('base_link', 'tool_link')

        """
        self._choose(one, other, IGNORED)

    def enable(self, one: str, other: str) -> None:
        """
        Check the pairs of two links, whatever else says that they are left out.

        Raises
        ------
        UnknownFrameError
            If there is no such link or obstacle.

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm6').collisions
        >>> collisions.enable('base_link', 'tool_link')

        """
        self._choose(one, other, None)

    def _choose(self, one: str, other: str, rule: str | None) -> None:
        known = [*self._links(), *self._obstacles]
        for name in (one, other):
            if name not in known:
                raise UnknownFrameError(name, known, 'link or obstacle')
        self._chosen[frozenset((one, other))] = rule
        self._changed()

    def exclude(self, pairs: Rules) -> None:
        """Leave out pairs of links, for given reasons, such as those of an SRDF."""
        self._excluded |= {frozenset(pair): why for pair, why in pairs.items()}
        self._given = True
        self._changed()

    def join(self, other: Collisions, moved: Array) -> None:
        """
        Take over what the user has said of another robot, whose links this robot has, too.

        `moved` (4, 4) is the other's root frame in that of this robot.
        """
        for body in other._bodies:
            if body.added:
                self.add_body(body.name, body.shape, body.pose)
        for body in other._obstacles.values():
            self.add_obstacle(body.shape, moved @ body.pose, body.name)
        self._excluded |= other._excluded
        self._chosen |= other._chosen
        self._given |= other._given
        self._changed()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """
        Return the pairs of links and obstacles whose distance counts.

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm_at_shelf').collisions
        >>> ('fore_link', 'middle_board') in collisions.pairs
        True

        """
        bodies, flat = self.bodies, self.flat()
        names = ((bodies[a].name, bodies[b].name) for a, b in np.sort(flat.pairs).tolist())
        return list(dict.fromkeys(names))

    @property
    def removed(self) -> dict[tuple[str, str], str]:
        """
        Return the pairs of links that are left out, with the reason.

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm_at_shelf').collisions
        >>> sorted(set(collisions.removed.values()))
        ['joined by a joint', 'the links do not move against each other']

        """
        self.flat()
        return dict(self._checked[1]) if self._checked is not None else {}

    def flat(self) -> FlatBodies:
        """Return the bodies and the pairs that count, for the columns of the robot's tree."""
        tree = self._solver.tree
        if self._checked is not None and self._checked[2] is tree:
            return self._checked[0]
        self._load()
        if not self._sampled:
            self._find_touching()
        flat, removed = self._find_pairs(tree)
        self._checked, self._model = (flat, removed, tree), None
        return flat

    def _find_pairs(self, tree: Tree) -> tuple[FlatBodies, dict[tuple[str, str], str]]:
        bodies = self.bodies
        columns, frames = [], []
        for body in bodies:
            column, pose = (-1, np.eye(4)) if body.link is None else tree.carrier[body.link]
            columns.append(column)
            frames.append(frame12(body.core_pose(pose)))
        # What the user says of a pair counts most.
        allowed = dict.fromkeys(self._allowed, ALLOWED)
        rules = {**self._touching, **self._excluded, **_joined(tree), **allowed, **self._chosen}
        pairs, removed = [], {}
        for a, b in combinations(range(len(bodies)), 2):
            one, other = bodies[a], bodies[b]
            if one.name == other.name or (one.link is None and other.link is None):
                continue
            pair = frozenset((one.name, other.name))
            rule: str | None = TOGETHER
            if columns[a] != columns[b]:
                named = (pair, frozenset((one.name,)), frozenset((other.name,)))
                given = [rules[each] for each in named if each in rules]
                rule = given[0] if given else _own_rule(one, other)
            if rule is None:
                pairs.append((a, b) if one.core.shape <= other.core.shape else (b, a))
            else:
                removed[one.name, other.name] = rule
        for a, b in np.sort(pairs).tolist():
            removed.pop((bodies[a].name, bodies[b].name), None)
        flat = FlatBodies(
            np.array(columns, np.int64),
            np.array([body.core.shape for body in bodies], np.int64),
            np.array(frames).reshape(-1, 12),
            np.array([body.core.size for body in bodies]).reshape(-1, 5),
            [body.core.points for body in bodies],
            np.array(pairs, np.int64).reshape(-1, 2),
        )
        return flat, removed

    # -- distances

    def distances(self, q: Any = None, reach: float = NEAR) -> list[Distance]:
        """
        Return the distances of all pairs that are near, the nearest first.

        Parameters
        ----------
        q : array_like, shape (nq,), optional
            [rad or m]; None = the present values.
        reach : float
            Pairs farther apart than this are left out [m].

        Examples
        --------
        >>> import ik_node as ik
        >>> collisions = ik.load_robot('arm6').collisions
        >>> collisions.distances()
        []

        """
        rows = self.measured(self._solver.q if q is None else self._solver.checked_q(q), reach)
        near = np.flatnonzero(rows[:, 0] <= reach)
        order = near[np.argsort(rows[near, 0], kind='stable')]
        return [self._distance(index, rows[index]) for index in order.tolist()]

    def contacts(self, q: Any = None, margin: float = 0.0) -> list[Distance]:
        """Return the pairs nearer than a margin [m], the nearest first; see `distances`."""
        return self.distances(q, margin - CONTACT)

    def measured(self, q: Any, reach: float) -> Array:
        """
        Measure all pairs of `flat`, shape (n, 10), as `kernels.distance.distances`.

        The distance of pairs that are farther apart than `reach` [m] is 1e300.
        """
        with self._lock:
            return self._measure(np.array(q, dtype=np.float64), reach)[1].copy()

    def nearest(self, q: Array, reach: float = FAR) -> Distance | None:
        """Return the nearest pair at q, shape (nq,), within a reach [m]; None if there is none."""
        with self._lock:
            index, rows = self._measure(q, reach)
            near = index >= 0 and rows[index, 0] <= reach
            return self._distance(index, rows[index]) if near else None

    def _distance(self, index: int, row: Array) -> Distance:
        """Return the distance of a pair of `flat`, given its row of `measured`."""
        bodies, (a, b) = self.bodies, self.flat().pairs[index].tolist()
        points = row[4:].reshape(2, 3)[:: 1 if a < b else -1].copy()
        return Distance((bodies[min(a, b)].name, bodies[max(a, b)].name), float(row[0]), points)

    def free_share(self, start: Array, end: Array, margin: float) -> float:
        """
        Return the share of a straight way between two configurations that is free of contact.

        Conservative advancement (Mirtich 1996): no point of a body moves by more than the sum over
        the joints of their changes times its largest distance from their axes, and the next
        configuration to be measured is as far away as the distances allow. Pairs that are in
        contact at the start may leave it. Others may overlap by GRAZING on the way.
        """
        delta, share = end - start, 0.0
        bounds = self._motion_bounds(np.maximum(np.abs(start), np.abs(end))) @ np.abs(delta)
        if not bounds.any():
            return 1.0
        least, slack, reached = np.zeros(0), np.zeros(0), 0.0
        for step in range(MOST_SAMPLES):
            here = start + share * delta
            d = self.measured(here, margin + (1.0 - share) * float(bounds.max()) + GRAZING)[:, 0]
            d -= margin
            if step == 0:
                least = np.where(d < -CONTACT, d, 0.0)
                slack = np.where(d < -CONTACT, CONTACT, GRAZING)
            if (d < least - slack).any():
                return reached
            if not (d < least - CONTACT).any():
                reached = share
            if share == 1.0:
                return reached
            free = np.clip(d - least, 0.0, FAR) + GRAZING
            share = min(1.0, share + float(np.min(free / np.maximum(bounds, 1e-100), initial=1.0)))
        return reached

    def _motion_bounds(self, travel: Array) -> Array:
        """
        Return how far the bodies of each pair move against each other at most, shape (n, nq).

        The numbers are per change of every joint value [m per rad or m]. `travel` (nq,) bounds
        the sizes of the values of sliding joints [m].
        """
        tree, flat = self._solver.tree, self.flat()
        slides = np.array([not column.dof.is_rotation for column in tree.columns], bool)
        lengths = np.ceil(10.0 * travel[tree.q_of_column] * slides) / 10.0
        key = lengths.tobytes()
        if self._bounds is None or self._bounds[0] != key:
            table = np.zeros((len(flat.pairs), len(travel)))
            for row, (a, b) in zip(table, flat.pairs.tolist(), strict=True):
                paths = [ancestors(tree, int(flat.columns[body])) for body in (a, b)]
                shared = {*paths[0]} & {*paths[1]}
                for body, path in zip((a, b), paths, strict=True):
                    reach = float(np.linalg.norm(flat.frames[body, 9:]) + flat.sizes[body, 4])
                    for index in reversed([each for each in path if each not in shared]):
                        row[tree.q_of_column[index]] += 1.0 if slides[index] else reach
                        reach += float(np.linalg.norm(tree.columns[index].offset[:3, 3]))
                        reach += float(lengths[index])
            self._bounds = key, table
        return self._bounds[1]

    def _measure(self, q: Array, reach: float) -> tuple[int, Array]:
        flat = self.flat()
        if self._model is None:
            self._arrays = flatten_links(self._solver.tree, [], flat)
            kernels = bind(*self._arrays, *make_workspace(self._arrays[0]))
            self._model = kernels, np.zeros((len(flat.pairs), RESULT)), np.zeros(2)
        kernels, out, limits = self._model
        limits[0] = reach
        return kernels.distances(q, limits, out), out


def _own_rule(one: Body, other: Body) -> str | None:
    """Return why the bodies themselves say that a pair does not count; None if it does."""
    if one.link is not None and other.link is not None:
        if not (one.with_own or other.with_own):
            return 'self_collide of the description'
        if not (one.bits[0] & other.bits[1] or other.bits[0] & one.bits[1]):
            return 'bits of the description: contype and conaffinity, or collide_bitmask'
    return None


def _joined(tree: Tree) -> dict[frozenset[str], str]:
    """Return the pairs of links that a joint or closure joins."""
    result: dict[frozenset[str], str] = {}
    for frame in tree.carrier:
        above = frame.parent if isinstance(frame, Link) else None
        while above is not None and not isinstance(above, Link):
            above = above.parent
        if above is not None:
            result[frozenset((frame.name, above.name))] = JOINED[0]
    for closer in tree.closers:
        parent, child = closer.parent, closer.child
        if isinstance(closer, Closure) and parent is not None and child is not None:
            result[frozenset((parent.name, child.name))] = JOINED[1]
    return result

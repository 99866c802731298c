"""The kinematics of an MJCF, and the reader of its bodies, joints, sites and masses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isnan, nan, pi
from xml.etree.ElementTree import Element

from ik_node.description.description import quoted, WORLD
from ik_node.description.mjcf.document import (
    Defaults,
    MjcfDocument,
    no_direction,
    quat_of_z,
    read_quat,
    Settings,
    SMALLEST,
)
from ik_node.description.xml_document import MAX_DEPTH
from ik_node.model.rotation import quat_identity, quat_multiply, quat_to_matrix, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Range = tuple[float, float]
UNLIMITED = (-np.inf, np.inf)


@dataclass
class MjcfJoint:
    """A joint of a body."""

    # name, kind: The kind is hinge, slide, ball or free
    name: str
    kind: str
    # position, axis: In the body's frame [m]; the axis is a unit vector
    position: Array = field(default_factory=lambda: np.zeros(3))
    axis: Array = field(default_factory=lambda: np.array((0.0, 0.0, 1.0)))
    ref: float = 0.0  # Joint value of the pose in the file [rad or m]
    # lower, upper: Limits [rad or m]; infinite = no limit. Upper of a ball: its largest angle.
    lower: float = -np.inf
    upper: float = np.inf
    # Range of the total effort of the actuators of a hinge [N m] or slide [N]
    efforts: Range = UNLIMITED
    is_named: bool = True  # Whether the name is in the file


@dataclass
class MjcfSite:
    """A named frame in a body, with its position [m] and orientation in the body."""

    name: str
    position: Array
    quat_xyzw: Array


@dataclass
class MjcfBody:
    """A body; the first body is the world."""

    name: str
    parent: int = 0  # Index of the parent in the list of bodies; 0 for the world itself
    # position, quat_xyzw: Pose in the file, in the parent's frame [m]
    position: Array = field(default_factory=lambda: np.zeros(3))
    quat_xyzw: Array = field(default_factory=quat_identity)
    joints: list[MjcfJoint] = field(default_factory=list)
    sites: list[MjcfSite] = field(default_factory=list)
    mocap: bool = False
    mass: float = 0.0  # Mass [kg]; nan = not known
    centre_of_mass: Array = field(default_factory=lambda: np.zeros(3))  # In the body's frame [m]
    is_named: bool = True  # Whether the name is in the file


@dataclass
class MjcfConstraint:
    """A connect or weld equality: a frame in one body coincides with a frame in another."""

    # name, kind: The kind is weld, or point (origins only)
    name: str
    kind: str
    bodies: tuple[int, int]  # Indices in the list of bodies
    # positions, quats_xyzw: One per body
    positions: list[Array]
    quats_xyzw: list[Array]
    enabled: bool = True
    line: int | None = None


@dataclass
class MjcfCoupling:
    """A joint equality, q - ref = sum over i of c_i (q_master - ref_master)**i."""

    joint: str
    master: str | None  # None = the joint stays at ref + c_0
    coefficients: list[float]
    enabled: bool = True
    line: int | None = None

    @property
    def terms(self) -> dict[str, list[float]]:
        """Return the equality as terms p_k whose sum is 0, see `MjcfSum`."""
        if self.master is None:
            return {self.joint: [-self.coefficients[0], 1.0]}
        return {self.joint: [0.0, 1.0], self.master: [-c for c in self.coefficients]}


@dataclass
class MjcfSum:
    """An equality of fixed tendons, sum over k of p_k(q_k - ref_k) = 0."""

    terms: dict[str, list[float]]  # Joint -> coefficients of its polynomial p_k
    enabled: bool = True
    line: int | None = None


@dataclass
class Mjcf:
    """The kinematics of an MJCF."""

    bodies: list[MjcfBody]  # Parents before children, depth first, as MuJoCo counts them
    # In the file's order
    equalities: list[MjcfConstraint | MjcfCoupling | MjcfSum] = field(default_factory=list)
    actuated: list[str] = field(default_factory=list)  # Joints with an actuator

    @property
    def joints(self) -> list[MjcfJoint]:
        """Return the joints of all bodies, in order."""
        return [joint for body in self.bodies for joint in body.joints]


KINDS = ('hinge', 'slide', 'ball', 'free')


def read_joint(
    document: MjcfDocument, element: Element, settings: Settings, notes: list[str]
) -> MjcfJoint:
    """Read a <joint> whose attributes include those of its class."""
    kind = document.word(element, 'type', 'hinge', KINDS)
    joint = MjcfJoint(element.get('name', ''), kind)
    if kind == 'free':
        return joint
    joint.position = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
    lower, upper = document.limits(element, 'range', 'limited', settings.autolimits, notes)
    if kind == 'ball':
        joint.upper = settings.angle(upper)
        return joint
    axis = document.numbers(element, 'axis', (0.0, 0.0, 1.0))
    if max(map(abs, axis)) < SMALLEST:
        raise no_direction(document, element, 'axis')
    joint.axis = unit(axis)
    joint.ref = document.numbers(element, 'ref', (0.0,))[0]
    if kind == 'hinge':
        joint.ref = settings.angle(joint.ref)
    turns = kind == 'hinge'
    joint.lower = settings.angle(lower) if turns else lower
    joint.upper = settings.angle(upper) if turns else upper
    joint.efforts = document.limits(
        element, 'actuatorfrcrange', 'actuatorfrclimited', settings.autolimits
    )
    return joint


def read_free_joint(element: Element) -> MjcfJoint:
    """Read a <freejoint>, which has no class."""
    return MjcfJoint(element.get('name', ''), 'free')


class Names:
    """A source of unique names."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def is_free(self, name: str) -> bool:
        """Return True if a name is not taken yet."""
        return name not in self._taken

    def unique(self, base: str) -> str:
        """Take and return a name, with a number appended if it is already taken."""
        name, count = base, self._counts.get(base, 1)
        while name in self._taken:
            count += 1
            name = f'{base}_{count}'
        self._counts[base] = count
        self._taken.add(name)
        return name


Pose = tuple[Array, Array]

# Elements without an effect on the kinematics.
SILENT = ('inertial', 'geom', 'camera', 'light')
SOFT = ('composite', 'flexcomp')


class BodyReader:
    """
    A reader of <worldbody> that resolves frames and fills in classes.

    `bodies` has parents before children, depth first; the world comes first. `elements` has the
    <body> of each, that of the world is the root of the file, and `geoms` their geoms, with
    classes filled in and the pose of their <frame>. `soft` tells whether the file has bodies of
    soft objects, which are not read.
    """

    def __init__(
        self,
        document: MjcfDocument,
        settings: Settings,
        defaults: Defaults,
        notes: list[str],
        attached: Callable[[Element, int], Mjcf],
    ) -> None:
        self._document = document
        self._attached = attached
        self.equalities: list[MjcfConstraint | MjcfCoupling | MjcfSum] = []
        self.actuated: list[str] = []
        self._settings = settings
        self._defaults = defaults
        self._notes = notes
        self._lines: dict[tuple[str, str], int | None] = {('body', WORLD): None}
        self._unknown: dict[str, int] = {}
        self.soft = False
        self.bodies = [MjcfBody(WORLD)]
        self.elements: list[Element | None] = [document.root]
        self.geoms: list[list[tuple[Element, Pose]]] = [[]]
        for element in document.sections('worldbody'):
            self._read(element, 0, (np.zeros(3), quat_identity()), None, document.depth)
        self._name_the_rest()
        for tag, count in self._unknown.items():
            notes.append(f'<{tag}> is not read ({count} of them)')

    def _read(
        self, element: Element, index: int, frame: Pose, childclass: str | None, depth: int
    ) -> None:
        """Read the children of a body or frame; `frame` is its pose in the body `index`."""
        document, body, depth = self._document, self.bodies[index], depth + 1
        if depth > MAX_DEPTH:
            raise document.error(element, f'elements are nested more than {MAX_DEPTH} deep')
        for child in element:
            tag = child.tag
            if tag == 'body':
                self._body(child, index, frame, childclass, depth)
            elif tag == 'frame':
                inner = self._inner_class(child, childclass)
                self._read(child, index, compose(frame, self._pose(child)), inner, depth)
            elif tag == 'attach':
                self._attach(child, index, frame, depth)
            elif tag in ('joint', 'freejoint'):
                if index == 0:
                    raise document.error(child, 'the world is fixed; a joint must be in a body')
                if tag == 'joint':
                    filled = self._defaults.fill_up(child, childclass)
                    joint = read_joint(document, filled, self._settings, self._notes)
                else:
                    joint = read_free_joint(child)
                self._declare(child, 'joint', joint.name)
                self._put(child, body, joint, frame)
            elif tag == 'site':
                self._site(self._defaults.fill_up(child, childclass), body, frame)
            elif tag == 'geom':
                self.geoms[index].append((self._defaults.fill_up(child, childclass), frame))
            elif tag in SOFT:
                self.soft = True
                name = child.get('prefix') or child.get('name') or ''
                self._notes.append(
                    f'<{tag} {name!r}> on line {document.line(child)}: the bodies of a soft '
                    'object are not read'
                )
            elif tag not in SILENT:
                self._unknown[tag] = self._unknown.get(tag, 0) + 1

    def _body(
        self, element: Element, parent: int, frame: Pose, childclass: str | None, depth: int
    ) -> None:
        inner = self._inner_class(element, childclass)
        position, quat = compose(frame, self._pose(element))
        body = MjcfBody(element.get('name', ''), parent, position, quat)
        body.mocap = self._document.is_true(element, 'mocap', 'false')
        self._declare(element, 'body', body.name)
        self.bodies.append(body)
        self.elements.append(element)
        self.geoms.append([])
        self._read(element, len(self.bodies) - 1, (np.zeros(3), quat_identity()), inner, depth)

    def _attach(self, element: Element, index: int, frame: Pose, depth: int) -> None:
        """Insert the bodies of a model; `frame` is where its world is in the body `index`."""
        model, first = self._attached(element, depth), len(self.bodies) - 1
        world, *bodies = model.bodies
        for site in world.sites:
            site.position, site.quat_xyzw = compose(frame, (site.position, site.quat_xyzw))
        self.bodies[index].sites += world.sites
        for body in bodies:
            if body.parent == 0:
                body.position, body.quat_xyzw = compose(frame, (body.position, body.quat_xyzw))
            body.parent = first + body.parent if body.parent else index
            self._declare(element, 'body', body.name)
            for joint in body.joints:
                self._declare(element, 'joint', joint.name)
                self._check_free(element, body, joint)
        for site in (site for body in model.bodies for site in body.sites):
            self._declare(element, 'site', site.name)
        self.bodies += bodies
        self.elements += [None] * len(bodies)
        self.geoms += [[] for _ in bodies]
        for each in model.equalities:
            if isinstance(each, MjcfConstraint):
                each.bodies = (first + each.bodies[0], first + each.bodies[1])
        self.equalities += model.equalities
        self.actuated += model.actuated

    def _inner_class(self, element: Element, childclass: str | None) -> str | None:
        inner = element.get('childclass') or childclass
        if inner is not None:
            self._defaults.check(element, inner)
        return inner

    def _pose(self, element: Element) -> Pose:
        position = np.array(self._document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
        return position, read_quat(self._document, element, self._settings)

    def _put(self, element: Element, body: MjcfBody, joint: MjcfJoint, frame: Pose) -> None:
        """Add a joint to a body."""
        self._check_free(element, body, joint)
        if body.joints and 'free' in (joint.kind, body.joints[0].kind):
            raise self._document.error(element, 'a free joint is the only one of its body')
        if joint.kind != 'free':
            joint.position = frame[0] + quat_to_matrix(frame[1]) @ joint.position
            joint.axis = quat_to_matrix(frame[1]) @ joint.axis
        body.joints.append(joint)

    def _check_free(self, element: Element, body: MjcfBody, joint: MjcfJoint) -> None:
        if joint.kind == 'free' and body.parent != 0:
            raise self._document.error(
                element, 'a free joint must be in a child body of the world, not further down'
            )

    def _site(self, element: Element, body: MjcfBody, frame: Pose) -> None:
        name, document = element.get('name', ''), self._document
        self._declare(element, 'site', name)
        pose = self._pose(element)
        if element.get('fromto') is not None:
            ends = np.array(document.numbers(element, 'fromto', (0.0,) * 6)).reshape(2, 3)
            along = ends[0] - ends[1]
            if np.max(np.abs(along)) < SMALLEST:
                raise document.error(element, 'fromto: its two points are equal')
            pose = ends.mean(axis=0), quat_of_z(unit(along))
        if name:
            body.sites.append(MjcfSite(name, *compose(frame, pose)))

    def _declare(self, element: Element, kind: str, name: str) -> None:
        """Record a name, or raise DescriptionError if it is declared twice."""
        if not name:
            return
        if (kind, name) in self._lines:
            line = self._lines[kind, name]
            where = f'on line {line}' if line else 'by MuJoCo itself'
            raise self._document.error(element, f'a {kind} of that name is declared {where}')
        self._lines[kind, name] = self._document.line(element)

    def _name_the_rest(self) -> None:
        bodies = Names(name for kind, name in self._lines if kind == 'body')
        joints = Names(name for kind, name in self._lines if kind == 'joint')
        named: list[str] = []
        for index, body in enumerate(self.bodies):
            if not body.name:
                body.name, body.is_named = bodies.unique(f'body{index}'), False
                named.append(body.name)
            for joint in body.joints:
                if not joint.name:
                    joint.name = joints.unique(f'{body.name}_{joint.kind}')
                    joint.is_named = False
                    named.append(joint.name)
        if named:
            self._notes.append(
                f'{len(named)} bodies and joints have no name; named {quoted(named)}'
            )


def compose(outer: Pose, inner: Pose) -> Pose:
    """Return the product of two poses: that of the inner frame in the outer frame's parent."""
    position = outer[0] + quat_to_matrix(outer[1]) @ inner[0]
    return position, unit(quat_multiply(outer[1], inner[1]))


# Number of sizes of each shape.
SIZES = {'sphere': 1, 'capsule': 2, 'cylinder': 2, 'ellipsoid': 3, 'box': 3}


def geom_pose(
    document: MjcfDocument, element: Element, settings: Settings
) -> tuple[Pose, float | None]:
    """Return the pose of a geom in its body or <frame>, and half its length [m] for `fromto`."""
    if element.get('fromto') is None:
        place = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
        return (place, read_quat(document, element, settings)), None
    ends = np.array(document.numbers(element, 'fromto', (0.0,) * 6)).reshape(2, 3)
    along = ends[0] - ends[1]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise document.error(element, 'fromto: its two points are one')
    return (ends.mean(axis=0), quat_of_z(unit(along))), 0.5 * length


def geom_size(document: MjcfDocument, element: Element, half: float | None) -> list[float]:
    """Return the sizes of a geom [m] in MJCF's order; an empty list if some are missing."""
    count = SIZES[element.get('type', 'sphere')]
    sizes = document.some_numbers(element, 'size', 3)
    if half is not None and sizes:
        radius = sizes[:1]
        sizes = radius + radius + [half] if count == 3 else [*radius, half]
    if len(sizes) < count or min(sizes[:count]) <= 0.0:
        return []
    return sizes[:count]


MASSLESS = ('plane', 'hfield')


def read_masses(
    document: MjcfDocument, reader: BodyReader, settings: Settings, notes: list[str]
) -> None:
    """
    Set the mass [kg] and centre of mass [m] of every body.

    Without <inertial>, they come from the geoms, as in MuJoCo. The mass of a mesh is unknown.
    """
    unknown = []
    for body, element, geoms in zip(reader.bodies, reader.elements, reader.geoms, strict=True):
        if element is None:  # attached, with its mass
            continue
        inertial = _inertial(element) if body is not reader.bodies[0] else None
        if inertial is not None and settings.from_geoms != 'true':
            body.mass = document.numbers(inertial, 'mass', (0.0,))[0]
            if body.mass < 0.0:
                raise document.error(inertial, f'mass="{body.mass:g}" is below 0 kg')
            centre = document.numbers(inertial, 'pos', (0.0, 0.0, 0.0))
            body.centre_of_mass = np.array(centre)
        elif body is not reader.bodies[0] and settings.from_geoms != 'false':
            _of_geoms(document, body, geoms, settings)
        if isnan(body.mass):
            unknown.append(body.name)
            body.mass = 0.0
    if unknown:
        notes.append(
            f'the masses of {len(unknown)} bodies come from meshes, which are not read; taken as '
            f'0 kg: {quoted(unknown)}'
        )
    total = sum(body.mass for body in reader.bodies)
    if settings.total_mass > 0.0 and total > 0.0:
        if unknown:
            notes.append('settotalmass is not used, as some masses are not known')
            return
        for body in reader.bodies:
            body.mass *= settings.total_mass / total


def _inertial(element: Element) -> Element | None:
    """Return the <inertial> of a body, also if it is inside a <frame>."""
    result = element.find('inertial')
    for frame in element.findall('frame') if result is None else []:
        result = result if result is not None else _inertial(frame)
    return result


def _of_geoms(
    document: MjcfDocument, body: MjcfBody, geoms: list[tuple[Element, Pose]], settings: Settings
) -> None:
    masses, places = [], []
    for geom, (position, quat_xyzw) in geoms:
        group = document.numbers(geom, 'group', (0.0,))[0]
        if settings.groups[0] <= group <= settings.groups[1]:
            mass, place = _geom(document, geom)
            masses.append(mass)
            places.append(position + quat_to_matrix(quat_xyzw) @ place)
    body.mass = float(sum(masses))
    if body.mass > 0.0:
        body.centre_of_mass = np.average(places, axis=0, weights=masses)


def _geom(document: MjcfDocument, element: Element) -> tuple[float, Array]:
    """Return the mass and centre of a geom in its frame; the mass of a mesh is nan."""
    place = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
    given = document.numbers(element, 'mass', (nan,))[0]
    density = document.numbers(element, 'density', (1000.0,))[0]
    shape = element.get('type', 'sphere')
    if given == 0.0 or (isnan(given) and density == 0.0) or shape in MASSLESS:
        return 0.0, place
    if element.get('mesh') is not None or shape not in SIZES:
        return nan, place
    sizes = document.some_numbers(element, 'size', 3)
    if element.get('fromto') is not None:
        ends = np.array(document.numbers(element, 'fromto', (0.0,) * 6)).reshape(2, 3)
        half = 0.5 * float(np.linalg.norm(ends[1] - ends[0]))
        place = ends.mean(axis=0)
        radius = sizes[:1]
        sizes = radius + radius + [half] if SIZES[shape] == 3 else [*radius, half]
    if given < 0.0 or density < 0.0:
        raise document.error(element, 'its mass or density is below 0')
    if not isnan(given):
        return given, place
    if len(sizes) < SIZES[shape] or element.get('shellinertia') == 'true':
        return nan, place
    if min(sizes[: SIZES[shape]]) <= 0.0:
        raise document.error(element, f'size="{element.get("size")}": sizes are above 0')
    return density * _volume(shape, sizes), place


def _volume(shape: str, sizes: list[float]) -> float:
    if shape == 'box':
        return 8.0 * sizes[0] * sizes[1] * sizes[2]
    if shape == 'ellipsoid':
        return 4.0 / 3.0 * pi * sizes[0] * sizes[1] * sizes[2]
    ball = 4.0 / 3.0 * pi * sizes[0] ** 3
    if shape == 'sphere':
        return ball
    cylinder = 2.0 * pi * sizes[0] ** 2 * sizes[1]
    return cylinder + (ball if shape == 'capsule' else 0.0)

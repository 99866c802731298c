"""The kinematics of an MJCF, and the reader of its bodies, joints, sites and masses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import isnan, nan, pi
from xml.etree.ElementTree import Element

from ik_node.description.description import Names, quoted, WORLD
from ik_node.description.mjcf.document import (
    Array,
    Defaults,
    MjcfDocument,
    Pose,
    quat_of_z,
    read_quat,
    Settings,
)
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import quat_identity, quat_multiply, quat_to_matrix, unit
import numpy as np

Range = tuple[float, float]
UNLIMITED = (-np.inf, np.inf)


def no_pose() -> Pose:
    """Return the identity."""
    return np.zeros(3), quat_identity()


@dataclass
class MjcfJoint:
    """A joint of a body."""

    name: str  # '' if the file gives none, until all bodies are read
    kind: str  # hinge, slide, ball or free
    # position, axis: In the body's frame [m]; the axis is a unit vector
    position: Array = field(default_factory=lambda: np.zeros(3))
    axis: Array = field(default_factory=lambda: np.array((0.0, 0.0, 1.0)))
    ref: float = 0.0  # Joint value of the pose in the file [rad or m]
    # Limits [rad or m]; infinite = no limit. Upper of a ball: its largest angle.
    limits: Range = UNLIMITED
    # Range of the total effort of the actuators of a hinge [N m] or slide [N]
    efforts: Range = UNLIMITED


@dataclass(eq=False)
class MjcfBody:
    """A body; the first body is the world."""

    name: str
    element: Element  # The <body>, or the root of the file for the world
    parent: MjcfBody | None = None  # None for the world
    pose: Pose = field(default_factory=no_pose)  # In the file, in the parent's frame [m]
    joints: list[MjcfJoint] = field(default_factory=list)
    sites: dict[str, Pose] = field(default_factory=dict)  # Named frames in the body
    # With classes filled in, and the pose of their <frame>
    geoms: list[tuple[Element, Pose]] = field(default_factory=list)
    mocap: bool = False
    mass: float = 0.0  # [kg]; nan = not known
    centre_of_mass: Array = field(default_factory=lambda: np.zeros(3))  # In the body's frame [m]


@dataclass
class MjcfSum:
    """An equality of joints or of fixed tendons, sum over k of p_k(q_k - ref_k) = 0."""

    terms: dict[str, list[float]]  # Joint -> coefficients of its polynomial p_k
    follower: str | None = None  # The first joint of an equality of two joints
    enabled: bool = True
    line: int | None = None


KINDS = ('hinge', 'slide', 'ball', 'free')


def read_joint(
    document: MjcfDocument, element: Element, settings: Settings, notes: list[str]
) -> MjcfJoint:
    """Read a <joint> whose attributes include those of its class, or a <freejoint>."""
    kind = 'free'
    if element.tag == 'joint':
        kind = document.word(element, 'type', KINDS, 'hinge')
    joint = MjcfJoint(element.get('name', ''), kind)
    if kind == 'free':
        return joint
    joint.position = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
    lower, upper = document.limits(element, 'range', 'limited', settings.autolimits, notes)
    if kind != 'slide':
        lower, upper = settings.angle(lower), settings.angle(upper)
    if kind == 'ball':
        joint.limits = -np.inf, upper
        return joint
    joint.limits = lower, upper
    axis = document.numbers(element, 'axis', (0.0, 0.0, 1.0))
    joint.axis = document.direction(element, axis)
    joint.ref = document.numbers(element, 'ref', (0.0,))[0]
    if kind == 'hinge':
        joint.ref = settings.angle(joint.ref)
    joint.efforts = document.limits(
        element, 'actuatorfrcrange', 'actuatorfrclimited', settings.autolimits
    )
    return joint


# Elements without an effect on the kinematics.
SILENT = ('inertial', 'geom', 'camera', 'light')


class BodyReader:
    """
    A reader of <worldbody> that resolves frames and fills in classes.

    `bodies` has parents before children, depth first, as MuJoCo counts them.
    """

    def __init__(
        self, document: MjcfDocument, settings: Settings, defaults: Defaults, notes: list[str]
    ) -> None:
        self.bodies = [MjcfBody(WORLD, document.root)]
        self._document = document
        self._settings = settings
        self._defaults = defaults
        self._notes = notes
        self._seen: dict[str, dict[str, Element | None]] = {
            'body': {WORLD: None},
            'joint': {},
            'site': {},
        }
        self._unknown: Counter[str] = Counter()
        for element in document.root.findall('worldbody'):
            self._read(element, self.bodies[0], no_pose(), None)
        self._name_the_rest()
        for tag, count in self._unknown.items():
            notes.append(f'<{tag}> is not read ({count} of them)')

    @property
    def joints(self) -> list[MjcfJoint]:
        """Return the joints of all bodies, in order."""
        return [joint for body in self.bodies for joint in body.joints]

    def _read(self, element: Element, body: MjcfBody, frame: Pose, childclass: str | None) -> None:
        """Read the children of a body or frame; `frame` is its pose in the body."""
        for child in element:
            tag = child.tag
            if tag == 'body':
                self._body(child, body, frame, childclass)
            elif tag == 'frame':
                inner = self._inner_class(child, childclass)
                self._read(child, body, compose(frame, self._pose(child)), inner)
            elif tag in ('attach', 'replicate'):
                raise self._document.error(
                    child,
                    'attached models and replicas are not read; save the whole robot from MuJoCo '
                    'with mj_saveLastXML and read that file',
                    UnsupportedElementError,
                )
            elif tag in ('joint', 'freejoint'):
                self._joint(child, body, frame, childclass)
            elif tag == 'site':
                self._site(self._defaults.fill_up(child, childclass), body, frame)
            elif tag == 'geom':
                body.geoms.append((self._defaults.fill_up(child, childclass), frame))
            elif tag not in SILENT:
                self._unknown[tag] += 1

    def _body(
        self, element: Element, parent: MjcfBody, frame: Pose, childclass: str | None
    ) -> None:
        inner = self._inner_class(element, childclass)
        pose = compose(frame, self._pose(element))
        body = MjcfBody(element.get('name', ''), element, parent, pose)
        body.mocap = self._document.is_true(element, 'mocap', 'false')
        self._declare(element, 'body', body.name)
        self.bodies.append(body)
        self._read(element, body, no_pose(), inner)

    def _inner_class(self, element: Element, childclass: str | None) -> str | None:
        inner = element.get('childclass') or childclass
        if inner is not None:
            self._defaults.check(element, inner)
        return inner

    def _pose(self, element: Element) -> Pose:
        return read_pose(self._document, element, self._settings)[0]

    def _joint(
        self, element: Element, body: MjcfBody, frame: Pose, childclass: str | None
    ) -> None:
        if body is self.bodies[0]:
            raise self._document.error(element, 'the world is fixed; a joint must be in a body')
        filled = element
        if element.tag == 'joint':
            filled = self._defaults.fill_up(element, childclass)
        joint = read_joint(self._document, filled, self._settings, self._notes)
        self._declare(element, 'joint', joint.name)
        if joint.kind == 'free' and body.parent is not self.bodies[0]:
            raise self._document.error(
                element, 'a free joint must be in a child body of the world, not further down'
            )
        if body.joints and 'free' in (joint.kind, body.joints[0].kind):
            raise self._document.error(element, 'a free joint is the only one of its body')
        if joint.kind != 'free':
            joint.position = frame[0] + quat_to_matrix(frame[1]) @ joint.position
            joint.axis = quat_to_matrix(frame[1]) @ joint.axis
        body.joints.append(joint)

    def _site(self, element: Element, body: MjcfBody, frame: Pose) -> None:
        name = element.get('name', '')
        self._declare(element, 'site', name)
        pose = self._pose(element)
        if name:
            body.sites[name] = compose(frame, pose)

    def _declare(self, element: Element, kind: str, name: str) -> None:
        """Record a name, or raise DescriptionError if it is declared twice."""
        if name:
            self._document.once(element, kind, name, self._seen[kind])

    def _name_the_rest(self) -> None:
        bodies, joints = Names(self._seen['body']), Names(self._seen['joint'])
        named: list[str] = []
        for index, body in enumerate(self.bodies):
            if not body.name:
                body.name = bodies.unique(f'body{index}')
                named.append(body.name)
            for joint in body.joints:
                if not joint.name:
                    joint.name = joints.unique(f'{body.name}_{joint.kind}')
                    named.append(joint.name)
        if named:
            self._notes.append(
                f'{len(named)} bodies and joints have no name; named {quoted(named)}'
            )


def compose(outer: Pose, inner: Pose) -> Pose:
    """Return the product of two poses: that of the inner frame in the outer frame's parent."""
    position = outer[0] + quat_to_matrix(outer[1]) @ inner[0]
    return position, unit(quat_multiply(outer[1], inner[1]))


def read_pose(
    document: MjcfDocument, element: Element, settings: Settings
) -> tuple[Pose, float | None]:
    """Return the pose of an element in its body or <frame>, and half its length for `fromto`."""
    if element.get('fromto') is None:
        position = np.array(document.numbers(element, 'pos', (0.0, 0.0, 0.0)))
        return (position, read_quat(document, element, settings)), None
    ends = np.array(document.numbers(element, 'fromto', (0.0,) * 6)).reshape(2, 3)
    along = ends[0] - ends[1]
    length = float(np.linalg.norm(along))
    if length < SMALLEST_LENGTH:
        raise document.error(element, 'fromto: its two points are equal')
    return (ends.mean(axis=0), quat_of_z(unit(along))), 0.5 * length


SMALLEST_LENGTH = 1e-14  # [m]
# Number of sizes of each shape.
SIZES = {'sphere': 1, 'capsule': 2, 'cylinder': 2, 'ellipsoid': 3, 'box': 3}


def geom_size(document: MjcfDocument, element: Element, half: float | None) -> list[float]:
    """Return the sizes of a geom [m] in MJCF's order; an empty list if some are missing."""
    count = SIZES[element.get('type', 'sphere')]
    sizes = document.some_numbers(element, 'size', 3)
    if half is not None and sizes:
        radius = sizes[:1]
        sizes = radius + radius + [half] if count == 3 else [*radius, half]
    return sizes[:count] if len(sizes) >= count else []


MASSLESS = ('plane', 'hfield')


def read_masses(
    document: MjcfDocument, bodies: list[MjcfBody], settings: Settings, notes: list[str]
) -> None:
    """
    Set the mass [kg] and centre of mass [m] of every body.

    Without <inertial>, they come from the geoms, as in MuJoCo. The mass of a mesh is unknown.
    """
    unknown = []
    for body in bodies[1:]:
        inertial = _inertial(body.element)
        if inertial is not None and settings.from_geoms != 'true':
            body.mass = document.numbers(inertial, 'mass', (0.0,))[0]
            if body.mass < 0.0:
                raise document.error(inertial, f'mass="{body.mass:g}" is below 0 kg')
            centre = document.numbers(inertial, 'pos', (0.0, 0.0, 0.0))
            body.centre_of_mass = np.array(centre)
        elif settings.from_geoms != 'false':
            _of_geoms(document, body, settings)
        if isnan(body.mass):
            unknown.append(body.name)
            body.mass = 0.0
    if unknown:
        notes.append(
            f'the masses of {len(unknown)} bodies come from meshes, which are not read; taken as '
            f'0 kg: {quoted(unknown)}'
        )
    total = sum(body.mass for body in bodies)
    if settings.total_mass > 0.0 and total > 0.0:
        if unknown:
            notes.append('settotalmass is not used, as some masses are not known')
            return
        for body in bodies:
            body.mass *= settings.total_mass / total


def _inertial(element: Element) -> Element | None:
    """Return the <inertial> of a body, also if it is inside a <frame>."""
    result = element.find('inertial')
    for frame in element.findall('frame') if result is None else []:
        result = result if result is not None else _inertial(frame)
    return result


def _of_geoms(document: MjcfDocument, body: MjcfBody, settings: Settings) -> None:
    masses, places = [], []
    for geom, (position, quat_xyzw) in body.geoms:
        group = document.numbers(geom, 'group', (0.0,))[0]
        if settings.groups[0] <= group <= settings.groups[1]:
            mass, place = _geom(document, geom, settings)
            masses.append(mass)
            places.append(position + quat_to_matrix(quat_xyzw) @ place)
    body.mass = float(sum(masses))
    if body.mass > 0.0:
        body.centre_of_mass = np.average(places, axis=0, weights=masses)


def _geom(document: MjcfDocument, element: Element, settings: Settings) -> tuple[float, Array]:
    """Return the mass and centre of a geom in its frame; the mass of a mesh is nan."""
    given = document.numbers(element, 'mass', (nan,))[0]
    density = document.numbers(element, 'density', (1000.0,))[0]
    shape = element.get('type', 'sphere')
    if given == 0.0 or (isnan(given) and density == 0.0) or shape in MASSLESS:
        return 0.0, np.zeros(3)
    (place, _), half = read_pose(document, element, settings)
    if element.get('mesh') is not None or shape not in SIZES:
        return nan, place
    if given < 0.0 or density < 0.0:
        raise document.error(element, 'its mass or density is below 0')
    if not isnan(given):
        return given, place
    sizes = geom_size(document, element, half)
    if not sizes or element.get('shellinertia') == 'true':
        return nan, place
    if min(sizes) <= 0.0:
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

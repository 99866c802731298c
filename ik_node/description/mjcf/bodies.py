"""Readers of the bodies, joints and sites of an MJCF."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from ik_node.description.description import WORLD
from ik_node.description.mjcf.defaults import Defaults, Settings
from ik_node.description.mjcf.document import MjcfDocument
from ik_node.description.mjcf.model import MjcfBody, MjcfJoint, MjcfSite
from ik_node.description.mjcf.orientation import no_direction, quat_of_z, read_quat, SMALLEST
from ik_node.description.unknown_name import quoted
from ik_node.model.rotation import quat_identity, quat_multiply, quat_to_matrix, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

KINDS = ('hinge', 'slide', 'ball', 'free')


def read_joint(
    document: MjcfDocument, element: Element, settings: Settings, notes: list[str]
) -> MjcfJoint:
    """
    Read a <joint> whose attributes include those of its class.

    Raises
    ------
    DescriptionError
        If its axis has no direction, or its range is not valid.

    """
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
    """
    A source of unique names.

    Parameters
    ----------
    taken : iterable of str
        Names in the file.

    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def is_free(self, name: str) -> bool:
        """Return True if a name is not taken yet."""
        return name not in self._taken

    def unique(self, wanted: str) -> str:
        """Take and return a name, with a number appended if it is already taken."""
        name, count = wanted, self._counts.get(wanted, 1)
        while name in self._taken:
            count += 1
            name = f'{wanted}_{count}'
        self._counts[wanted] = count
        self._taken.add(name)
        return name


Pose = tuple[Array, Array]

# Elements without an effect on the kinematics.
SILENT = ('inertial', 'geom', 'camera', 'light')
SOFT = ('composite', 'flexcomp')


class BodyReader:
    """
    A reader of <worldbody> that resolves frames and fills in classes.

    Parameters
    ----------
    document, settings, defaults
        The file, its settings and its classes.
    notes : list of str
        Elements that are not read are appended.

    Attributes
    ----------
    bodies : list of MjcfBody
        Parents before children, depth first; the world comes first.
    elements : list of Element
        The <body> element of each; that of the world is the root of the file.
    geoms : list of list of (Element, pose)
        The geoms of each body, with classes filled in, and the pose of their <frame>.
    soft : bool
        Whether the file has bodies of soft objects, which are not read.

    """

    def __init__(
        self, document: MjcfDocument, settings: Settings, defaults: Defaults, notes: list[str]
    ) -> None:
        self._document = document
        self._settings = settings
        self._defaults = defaults
        self._notes = notes
        self._lines: dict[tuple[str, str], int | None] = {('body', WORLD): None}
        self._unknown: dict[str, int] = {}
        self.soft = False
        self.bodies = [MjcfBody(WORLD)]
        self.elements = [document.root]
        self.geoms: list[list[tuple[Element, Pose]]] = [[]]
        for element in document.sections('worldbody'):
            self._read(element, 0, (np.zeros(3), quat_identity()), None)
        self._name_the_rest()
        for tag, count in self._unknown.items():
            notes.append(f'<{tag}> is not read ({count} of them)')

    def _read(self, element: Element, index: int, frame: Pose, childclass: str | None) -> None:
        """Read the children of a body or frame; `frame` is its pose in the body `index`."""
        document, body = self._document, self.bodies[index]
        for child in element:
            tag = child.tag
            if tag == 'body':
                self._body(child, index, frame, childclass)
            elif tag == 'frame':
                inner = self._inner_class(child, childclass)
                self._read(child, index, compose(frame, self._pose(child)), inner)
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

    def _body(self, element: Element, parent: int, frame: Pose, childclass: str | None) -> None:
        inner = self._inner_class(element, childclass)
        position, quat = compose(frame, self._pose(element))
        body = MjcfBody(element.get('name', ''), parent, position, quat)
        body.mocap = self._document.is_true(element, 'mocap', 'false')
        self._declare(element, 'body', body.name)
        self.bodies.append(body)
        self.elements.append(element)
        self.geoms.append([])
        self._read(element, len(self.bodies) - 1, (np.zeros(3), quat_identity()), inner)

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
        if joint.kind == 'free' and body.parent != 0:
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

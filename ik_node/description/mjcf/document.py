"""An MJCF document with its includes, settings, default classes and rotations."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, inf, radians, sin
from pathlib import Path
from xml.etree.ElementTree import Element

from ik_node.description.joint_spec import is_beyond
from ik_node.description.xml_document import MAX_BYTES, MAX_DEPTH, parse_xml, XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import (
    cross,
    matrix_to_quat,
    quat_between,
    quat_identity,
    quat_multiply,
    unit,
)
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pose = tuple[Array, Array]  # position [m] and quaternion (xyzw)

FALSE_TRUE = ('false', 'true')


class MjcfDocument(XmlDocument):
    """An XML document made of several files."""

    def __init__(self, document: XmlDocument) -> None:
        super().__init__(document.root, dict(document.places), document.source)
        self._bytes = 0  # of other files
        self._put_in(self.root, 1, (document.source,))

    def with_attributes(self, element: Element, attributes: dict[str, str]) -> Element:
        """Return an element without children that has the tag, file and line of another one."""
        made = Element(element.tag, attributes)
        if element in self.places:
            self.places[made] = self.places[element]
        return made

    def is_true(self, element: Element, name: str, default: str) -> bool:
        """Return the value of an attribute that must be true or false."""
        return self.word(element, name, FALSE_TRUE, default) == 'true'

    def limits(
        self,
        element: Element,
        name: str,
        limited_name: str,
        autolimits: bool,
        notes: list[str] | None = None,
    ) -> tuple[float, float]:
        """
        Return the limits in an attribute; infinite if it does not limit, or from 1e12 on.

        The attribute `limited_name` states whether the two numbers count; if it does not, two of
        them count with `autolimits`. What is assumed is appended to the notes.
        """
        text = element.get(name, '')
        lower, upper = self.numbers(element, name, (0.0, 0.0), infinite=True)
        limited = self.word(element, limited_name, (*FALSE_TRUE, 'auto'), 'auto')
        if limited == 'auto' and not autolimits and (lower or upper):
            raise self.error(
                element,
                f'{name}="{text}", but neither {limited_name}="true" or "false" nor '
                '<compiler autolimits="true"/>',
            )
        if limited == 'true' and not lower < upper:
            why = '; the limits are reversed, exchange them' * (lower > upper)
            raise self.error(
                element, f'{name}="{lower:g} {upper:g}": the first must be below the second{why}'
            )
        counts = limited == 'true' or (limited == 'auto' and lower < upper)
        if notes is not None:
            what = f'<{element.tag}> {element.get("name", "")!r}: {name}="{text}"'
            if limited == 'auto' and lower >= upper and (lower or upper):
                why = 'reversed' if lower > upper else 'empty'
                notes.append(f'{what} is {why}; as in MuJoCo it does not limit')
            elif counts and any(map(is_beyond, text.split())):
                notes.append(f'{what}: numbers beyond 1e12 are taken as no limit')
        return (lower, upper) if counts else (-inf, inf)

    def some_numbers(self, element: Element, name: str, limit: int) -> list[float]:
        """Return the 1 to `limit` numbers of an attribute; an empty list if it is missing."""
        count = len(element.get(name, '').split())
        if element.get(name) is not None and not 1 <= count <= limit:
            raise self.error(element, f'{name}: expected 1 to {limit} numbers, got {count}')
        return self.numbers(element, name, (0.0,) * count)

    def _put_in(self, parent: Element, depth: int, chain: tuple[str, ...]) -> None:
        """Replace the includes below an element by the contents of their files."""
        if depth > MAX_DEPTH:
            raise self.error(parent, f'elements are nested more than {MAX_DEPTH} deep')
        children: list[Element] = []
        for child in parent:
            if child.tag == 'include':
                part = self._open(child, chain)
                self.places.update(part.places)
                self._put_in(part.root, depth, (*chain, part.source))
                children += part.root
            else:
                self._put_in(child, depth + 1, chain)
                children.append(child)
        parent[:] = children

    def _open(self, element: Element, chain: tuple[str, ...]) -> XmlDocument:
        """Parse the file of an include, relative to the main file, else to the including file."""
        name = self.attribute(element, 'file')
        if self.source == '<text>':
            raise self.error(
                element,
                f'file="{name[:200]}": a description given as text has no folder; '
                'read it from its file',
            )
        paths = [Path(source).parent / name for source in (chain[0], chain[-1])]
        try:
            path = next((path for path in paths if path.is_file()), None)
            if path is None:
                raise self.error(element, f'there is no file {name!r} in {str(paths[0].parent)!r}')
            if any(path.samefile(source) for source in chain):
                raise self.error(element, f'the file {name!r} includes itself')
            with path.open('rb') as file:
                data = file.read(MAX_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, 'strerror', None) or str(error)
            why = f'the file {name[:200]!r} cannot be read: {reason}'
            raise self.error(element, why) from None
        self._bytes += len(data)
        if self._bytes > MAX_BYTES:
            raise self.error(element, f'more than {MAX_BYTES} bytes in other files')
        return parse_xml(data, str(path))


@dataclass
class Settings:
    """The settings in <compiler>."""

    degree: bool = True  # Whether angles are in degrees
    # Axes of Euler angles; lower case axes move with the frame, upper case axes are fixed
    eulerseq: str = 'xyz'
    autolimits: bool = True  # Whether a range is enough to limit a joint
    from_geoms: str = 'auto'  # Whether masses come from geoms: 'false', 'true' or 'auto'
    groups: tuple[int, int] = (0, 5)  # First and last group of geoms with mass
    total_mass: float = -1.0  # Total mass [kg] to which masses are scaled; 0 or less = no scaling

    def angle(self, value: float) -> float:
        """Convert an angle in the file's unit to [rad]."""
        return radians(value) if self.degree else value


def read_settings(document: MjcfDocument) -> Settings:
    """Read every <compiler>; the last value of a setting counts."""
    result = Settings()
    for element in document.root.findall('compiler'):
        if document.word(element, 'coordinate', ('local', 'global'), 'local') == 'global':
            raise document.error(
                element,
                'coordinate="global" is no longer part of MJCF; load and save the file in MuJoCo '
                '2.3.3 or older',
                UnsupportedElementError,
            )
        usual = 'degree' if result.degree else 'radian'
        angle = document.word(element, 'angle', ('degree', 'radian'), usual)
        result.degree = angle == 'degree'
        result.eulerseq = element.get('eulerseq', result.eulerseq)
        if len(result.eulerseq) != 3 or set(result.eulerseq) - set('xyzXYZ'):
            raise document.error(
                element, f'eulerseq="{result.eulerseq[:60]}": expected three of x y z X Y Z'
            )
        result.autolimits = document.is_true(element, 'autolimits', str(result.autolimits).lower())
        result.from_geoms = document.word(
            element, 'inertiafromgeom', (*FALSE_TRUE, 'auto'), result.from_geoms
        )
        first, last = document.numbers(element, 'inertiagrouprange', result.groups)
        result.groups = (int(first), int(last))
        result.total_mass = document.numbers(element, 'settotalmass', (result.total_mass,))[0]
    return result


MAIN = 'main'
ROTATIONS = ('quat', 'axisangle', 'xyaxes', 'zaxis', 'euler')
# The class of every actuator. <motor>, <position> and so on are short forms of it.
ACTUATOR = 'general'
TAGS = ('joint', 'site', 'geom', 'equality', 'mesh', 'material', ACTUATOR)
# A connect, weld or joint equality takes the class's <equality>.
ALIASES = {'connect': 'equality', 'weld': 'equality'}

Attributes = dict[str, str]

# What a short form in a class sets in the <general> elements of the class: with <motor> the force
# is the control input; with all others the range of the control input does not limit the force.
MOTOR = {'gaintype': 'fixed', 'gainprm': '1', 'biastype': 'none', 'dyntype': 'none'}
SERVO = {'biastype': 'affine'}
SERVOS = ('position', 'velocity', 'intvelocity', 'damper', 'cylinder', 'muscle', 'adhesion')
SHORT_FORMS = {'motor': MOTOR, **dict.fromkeys((*SERVOS, 'dcmotor', 'pid'), SERVO)}


class Defaults:
    """
    The default classes, which supply attributes that elements do not have.

    A class starts as a copy of its parent class, in the state in which the class begins.
    """

    def __init__(self, document: MjcfDocument) -> None:
        self._document = document
        self._classes: dict[str, dict[str, Attributes]] = {MAIN: {tag: {} for tag in TAGS}}
        for element in document.root.findall('default'):
            # Before MuJoCo 3 the outermost class could have another name.
            self._classes[element.get('class') or MAIN] = self._classes[MAIN]
            self._fill(element, MAIN)

    def fill_up(self, element: Element, childclass: str | None, tag: str | None = None) -> Element:
        """Return an element with the attributes of its class added."""
        name = element.get('class') or childclass or MAIN
        self.check(element, name)
        attributes = self._classes[name][tag or ALIASES.get(element.tag, element.tag)]
        if not attributes:
            return element
        return self._document.with_attributes(element, _over(attributes, element.attrib))

    def check(self, element: Element, name: str) -> None:
        """Raise DescriptionError if a class is not declared."""
        self._document.known(element, 'class', name, self._classes)

    def _fill(self, element: Element, name: str) -> None:
        attributes = self._classes[name]
        for child in element:
            tag, own = child.tag, child.attrib
            if tag in SHORT_FORMS:
                tag, own = ACTUATOR, {**SHORT_FORMS[tag], **own}
            if tag in attributes:
                attributes[tag] = _over(attributes[tag], own)
        for child in element.findall('default'):
            inner = self._document.attribute(child, 'class')
            if inner in self._classes:
                raise self._document.error(child, f'the class {inner!r} is declared twice')
            self._classes[inner] = {tag: dict(result) for tag, result in attributes.items()}
            self._fill(child, inner)


def _over(attributes: Attributes, own: Attributes) -> Attributes:
    """Return attributes overridden by `own` ones; one form of rotation overrides all forms."""
    if any(name in own for name in ROTATIONS):
        attributes = {key: text for key, text in attributes.items() if key not in ROTATIONS}
    return {**attributes, **own}


ALTERNATIVES = {'axisangle': 4, 'xyaxes': 6, 'zaxis': 3, 'euler': 3}
SMALLEST = 1e-14


def read_quat(document: MjcfDocument, element: Element, settings: Settings) -> Array:
    """Return the rotation (xyzw) of an element."""
    given = [name for name in (*ALTERNATIVES, 'quat') if element.get(name) is not None]
    if len(given) > 1:
        raise document.error(element, f'{" and ".join(given)} are given; only one is allowed')
    name = given[0] if given else 'quat'
    if name == 'quat':
        w, x, y, z = document.numbers(element, 'quat', (1.0, 0.0, 0.0, 0.0))
        return document.direction(element, (x, y, z, w), 'quat')
    numbers = document.numbers(element, name, (0.0,) * ALTERNATIVES[name])
    if name == 'euler':
        quat = quat_identity()
        for letter, angle in zip(settings.eulerseq, numbers, strict=True):
            half = 0.5 * settings.angle(angle)
            rotation = np.zeros(4)
            rotation['xyz'.index(letter.lower())], rotation[3] = sin(half), cos(half)
            quat = (
                quat_multiply(quat, rotation)
                if letter.islower()
                else quat_multiply(rotation, quat)
            )
        return unit(quat)
    axis = document.direction(element, numbers[:3], name)
    if name == 'axisangle':
        half = 0.5 * settings.angle(numbers[3])
        return np.append(sin(half) * axis, cos(half))
    if name == 'zaxis':
        return quat_of_z(axis)
    second = np.array(numbers[3:])
    side = document.direction(element, second - (axis @ second) * axis, name)
    return matrix_to_quat(np.column_stack((axis, side, cross(axis, side))))


def quat_of_z(axis: Array) -> Array:
    """Return the smallest rotation (xyzw) that aligns z with a unit vector."""
    if axis[2] < 0.0 and hypot(axis[0], axis[1]) < SMALLEST:
        return np.array((1.0, 0.0, 0.0, 0.0))  # half a turn about x, as in MuJoCo
    return quat_between((0.0, 0.0, 1.0), axis)

"""Readers of the settings and default classes of an MJCF."""

from __future__ import annotations

from dataclasses import dataclass
from math import radians
from xml.etree.ElementTree import Element

from ik_node.description.mjcf.document import FALSE_TRUE, MjcfDocument
from ik_node.description.unknown_name import unknown
from ik_node.errors import UnsupportedElementError


@dataclass
class Settings:
    """
    The settings in <compiler>.

    Attributes
    ----------
    degree : bool
        Whether angles are in degrees.
    eulerseq : str
        Axes of Euler angles; lower case axes move with the frame, upper case axes are fixed.
    autolimits : bool
        Whether a range is enough to limit a joint.
    from_geoms : str
        Whether masses come from geoms: 'false', 'true' or 'auto'.
    groups : tuple of int
        First and last group of geoms with mass.
    total_mass : float
        Total mass [kg] to which masses are scaled; 0 or less = no scaling.

    """

    degree: bool = True
    eulerseq: str = 'xyz'
    autolimits: bool = True
    from_geoms: str = 'auto'
    groups: tuple[int, int] = (0, 5)
    total_mass: float = -1.0

    def angle(self, value: float) -> float:
        """Convert an angle in the file's unit to [rad]."""
        return radians(value) if self.degree else value


def read_settings(document: MjcfDocument) -> Settings:
    """
    Read every <compiler>; the last value of a setting counts.

    Raises
    ------
    DescriptionError
        If a setting has a value that is not allowed.

    """
    found = Settings()
    for element in document.sections('compiler'):
        if document.word(element, 'coordinate', 'local', ('local', 'global')) == 'global':
            raise document.error(
                element,
                'coordinate="global" is no longer part of MJCF; load and save the file in MuJoCo '
                '2.3.3 or older',
                UnsupportedElementError,
            )
        angle = document.word(
            element, 'angle', 'degree' if found.degree else 'radian', ('degree', 'radian')
        )
        found.degree = angle == 'degree'
        found.eulerseq = element.get('eulerseq', found.eulerseq)
        if len(found.eulerseq) != 3 or set(found.eulerseq) - set('xyzXYZ'):
            raise document.error(
                element, f'eulerseq="{found.eulerseq[:60]}": expected three of x y z X Y Z'
            )
        found.autolimits = document.is_true(element, 'autolimits', str(found.autolimits).lower())
        found.from_geoms = document.word(
            element, 'inertiafromgeom', found.from_geoms, (*FALSE_TRUE, 'auto')
        )
        first, last = document.numbers(element, 'inertiagrouprange', found.groups)
        found.groups = (int(first), int(last))
        found.total_mass = document.numbers(element, 'settotalmass', (found.total_mass,))[0]
    return found


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

    Parameters
    ----------
    document : MjcfDocument
    notes : list of str
        Deviations from MJCF are appended.

    Raises
    ------
    DescriptionError
        If a class has no name, or a name comes twice.

    """

    def __init__(self, document: MjcfDocument, notes: list[str]) -> None:
        self._document = document
        self._classes: dict[str, dict[str, Attributes]] = {MAIN: {tag: {} for tag in TAGS}}
        for element in document.sections('default'):
            name = element.get('class') or MAIN
            if name != MAIN:  # allowed before MuJoCo 3
                notes.append(f'the outermost <default> is named {name!r}, which MuJoCo refuses')
                if self._classes.setdefault(name, self._classes[MAIN]) is not self._classes[MAIN]:
                    raise document.error(element, f'the class {name!r} is declared twice')
            self._fill(element, MAIN)

    def fill_up(self, element: Element, childclass: str | None, tag: str | None = None) -> Element:
        """
        Return an element with the attributes of its class added.

        Parameters
        ----------
        element : Element
            The element; it is not changed.
        childclass : str or None
            The class inherited from its ancestors, for an element without its own class.
        tag : str, optional
            Tag to look up in the class; None = its own tag.

        Raises
        ------
        DescriptionError
            If there is no such class.

        """
        name = element.get('class') or childclass or MAIN
        self.check(element, name)
        attributes = self._classes[name][tag or ALIASES.get(element.tag, element.tag)]
        if not attributes:
            return element
        filled = _over(attributes, element.attrib)
        return self._document.stand_in(element, element.tag, filled)

    def check(self, element: Element, name: str) -> None:
        """Raise DescriptionError if a class is not declared."""
        if name not in self._classes:
            raise self._document.error(element, unknown('class', name, list(self._classes)))

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
            self._classes[inner] = {tag: dict(found) for tag, found in attributes.items()}
            self._fill(child, inner)


def _over(attributes: Attributes, own: Attributes) -> Attributes:
    """Return attributes overridden by `own` ones; one form of rotation overrides all forms."""
    if any(name in own for name in ROTATIONS):
        attributes = {key: text for key, text in attributes.items() if key not in ROTATIONS}
    return {**attributes, **own}

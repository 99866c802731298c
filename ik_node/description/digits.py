"""What the digits of a description reveal: rounding errors, rounded angles, wrong units."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import chain
import math
from math import isfinite, pi, radians, remainder
import re
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, quoted
from ik_node.description.xml_document import is_true
from ik_node.errors import counted, listed
from ik_node.model.redundancy import rounding_error

# Fewest decimals of a rounded angle: 1.57 is one, while a length of 0.57 is exact.
ANGLE_DECIMALS = 2
# Attributes with a position [m], and with a rotation or direction.
_POSITIONS = ('xyz', 'pos', 'anchor')
_ROTATIONS = ('rpy', 'quat', 'xyaxes', 'zaxis', 'axis')
# Elements that place no frame of the mechanism.
_OTHERS = {'visual', 'collision', 'inertial', 'geom', 'light', 'camera', 'sensor', 'asset', 'gui'}


def rounding_of(root: Element) -> tuple[float, float]:
    """Return the root mean square of the rounding errors of all positions [m], rotations [rad]."""
    given: dict[str, list[list[str]]] = {'m': [], 'rad': [], 'degree': []}
    axes: list[str] = []  # of rotations about an axis
    degrees = root.tag == 'mujoco' and all(
        each.get('angle', 'degree') == 'degree' for each in root.iter('compiler')
    )
    unit = 'degree' if degrees else 'rad'
    units = {**dict.fromkeys(_POSITIONS, 'm'), **dict.fromkeys(_ROTATIONS, 'rad'), 'euler': unit}
    waiting = [root]
    while waiting:
        element = waiting.pop()
        waiting += [child for child in element if child.tag not in _OTHERS]
        numbers = (element.text or '').split()
        if element.tag == 'pose':
            given['m'].append(numbers[:3])
            given['degree' if is_true(element.get('degrees')) else 'rad'].append(numbers[3:])
        elif element.tag == 'xyz':
            given['rad'].append(numbers)
        for name, text in element.items():
            if name in units:
                given['rad' if element.tag == 'axis' else units[name]].append(text.split())
        axis_angle = element.get('axisangle', '').split()
        axes += axis_angle[:3]
        given[unit].append(axis_angle[3:])
    positions, angles, turns = ([*chain(*each)] for each in given.values())
    rotations = max(1, sum(map(bool, given['rad'] + given['degree'])))
    errors = (
        rounding_error(angles + axes, rotations, ANGLE_DECIMALS),
        radians(rounding_error(turns, rotations)),
    )
    return rounding_error(positions, sum(map(bool, given['m']))), math.hypot(*errors)


# (n, decimals, significant digits): how many digits a number needs to count as a rounded multiple
# of pi / n. Finer multiples need more digits, or other numbers would match by chance.
_MULTIPLES = ((12, 3, 4), (180, 5, 5))
# Relative rounding error of double precision.
_ONE_BIT = 2.3e-16
# Smaller changes than this are ignored [rad].
_LEAST = 1e-9
# Larger |angles| are no angles [rad].
_LARGEST = 1e3
# Larger numbers than this are no degrees either: they stand for "unlimited".
_MOST_DEGREES = 720.0
# An angle this near to a multiple of pi is one [rad].
_HALF_TURN = 0.02
# No pose is turned by more than a whole turn [rad].
_WHOLE_TURN = 6.4


def fraction_of_pi(text: str) -> Fraction | None:
    """
    Return the fraction of pi whose correct rounding is a number [rad], as written in the file.

    It is a multiple of 1/12 (for example for 1.571, 1.5708 or 3.1416) or of 1/180 (0.17453). None
    for any other number, for 0, and if the number has too few digits; zeros at its end count.
    """
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    _, digits, exponent = number.as_tuple()
    if '_' in text or not isinstance(exponent, int) or abs(number) > _LARGEST:
        return None
    value = float(number)
    half_a_digit = 0.5 * 10.0 ** min(exponent, 0)
    for parts, decimals, significant in _MULTIPLES:
        count = round(value * parts / pi)
        if count == 0 or -exponent < decimals or len(digits) < significant:
            continue
        if abs(value - count * pi / parts) <= half_a_digit + _ONE_BIT * abs(value):
            return Fraction(count, parts)
    return None


def exact_angle(value: float) -> float:
    """Return the exact multiple of pi that an angle [rad] rounds, or the angle itself."""
    result = fraction_of_pi(repr(float(value))) if isfinite(value) else None
    return value if result is None else float(result) * pi


def looks_like_degrees(angle: float, least: float) -> bool:
    """Return True for an angle [rad] above `least` that is no multiple of half a turn."""
    in_range = least <= abs(angle) <= _MOST_DEGREES
    return in_range and abs(remainder(angle, pi)) > _HALF_TURN


def note_degrees(angles: Iterable[float]) -> list[str]:
    """Return a note on the angles of poses [rad] that look like degrees; [] if none does."""
    result = [angle for angle in angles if looks_like_degrees(angle, _WHOLE_TURN)]
    if not result:
        return []
    said = quoted([f'{angle:g}' for angle in dict.fromkeys(result)])
    return [
        f'angles of poses look like degrees, but count as rad: {said}; '
        f'write {radians(result[0]):.8g} for {result[0]:g} degrees'
    ]


def read_angles(root: Element, replaces: bool) -> tuple[int, list[str]]:
    """
    Return the number of rounded angles in the poses of a description, and notes on its angles.

    These are rpy attributes of a URDF, poses of an SDFormat file or rotations of an MJCF. With
    `replaces` the exact fractions of pi take the place of rounded ones.
    """
    angles: list[float] = []
    rounded: list[str] = []

    def read(text: str, first: int) -> str:
        """Return a list of numbers with rounded angles replaced, from index `first` on."""
        parts = text.split()
        for index, part in enumerate(parts[first:], first):
            with suppress(ValueError):  # The reader of the format says what is wrong.
                angles.append(float(part))
            result = fraction_of_pi(part)
            if result is not None and abs(float(part) - float(result) * pi) > _LEAST:
                parts[index] = repr(float(result) * pi)
                rounded.append(f'{part} = {_in_words(result)}')
        return ' '.join(parts) if replaces else text

    names = {'rpy': 0} if root.tag == 'robot' else {}
    if root.tag == 'mujoco' and any(
        each.get('angle') == 'radian' for each in root.iter('compiler')
    ):
        names = {'euler': 0, 'axisangle': 3}
    for element in root.iter():
        for name, first in names.items():
            if name in element.attrib:
                element.set(name, read(element.attrib[name], first))
    for element in root.iter('pose') if root.tag == 'sdf' else ():
        plain = element.get('rotation_format', 'euler_rpy') == 'euler_rpy'
        if element.text and plain and not is_true(element.get('degrees')):
            element.text = read(element.text, 3)
    notes = note_degrees(angles)
    if rounded and replaces:
        number, said = counted(len(rounded), 'rounded angle'), quoted([*dict.fromkeys(rounded)])
        notes.insert(0, f'{number}, read as fractions of pi: {said}')
    return len(rounded), notes


def _in_words(part: Fraction) -> str:
    over = '' if part.denominator == 1 else f'/{part.denominator}'
    times = {1: '', -1: '-'}.get(part.numerator, f'{part.numerator} ')
    return f'{times}pi{over}'


# Rotation limits above this are rather degrees: 15 rad are more than two turns.
_LEAST_DEGREES = 15.0
# No part of a robot is that far from the next one [m]; ten millimetres are usual.
_FAR = 10.0
# Names of frames that close a loop, in other writings than closing_NAME_1, and Gepetto's.
_CLOSING = re.compile(r'(^|[-_. ])clos(ing|ure)([-_. \d]|$)|fermeture|closed_?loop', re.IGNORECASE)
_FRAMES = re.compile(r'closing_.+_[12](_z)?')


def note_suspicious_values(description: Description) -> None:
    """Add notes for limits in degrees, for millimetres, and for names of unread ends of loops."""
    loops = description.closures.values()
    limits = {
        name: f'[{joint.min_dof_limit[dof]:g}, {joint.max_dof_limit[dof]:g}]'
        for name, (joint, dof) in description.values.items()
        if dof.is_rotation
        and any(
            looks_like_degrees(limit, _LEAST_DEGREES)
            for limit in (joint.min_dof_limit[dof], joint.max_dof_limit[dof])
        )
    }
    if limits:
        name, said = next(iter(limits.items()))
        description.notes.append(
            f'limits of {listed(limits)} look like degrees, but count as rad: {said} of {name!r} '
            'allows many turns; write 3.14159 for 180 degrees'
        )
    frames = [*description.joints.values(), *description.links.values(), *loops]
    distances = [(math.hypot(*frame.position), frame.name) for frame in frames]
    distances += [(math.hypot(*loop.offset_position), loop.name) for loop in loops]
    distance, name = max(distances, default=(0.0, ''))
    if distance > _FAR:
        description.notes.append(
            f'{name!r} is {distance:.4g} m from its parent: lengths count as metres; if they are '
            'millimetres, divide them by 1000'
        )
    ends = {end for loop in loops for end in (loop.child, loop.parent)}
    names = [
        name
        for name, link in description.links.items()
        if _CLOSING.search(name)
        and not _FRAMES.fullmatch(name)
        and link not in ends
        and not link.children
    ]
    if names:
        description.notes.append(
            f'links {quoted(names)} look like ends of loops, but no loop is made of them: name '
            'pairs closing_NAME_1 and closing_NAME_2, put the robot.yaml of a model of Gepetto '
            'beside its URDF, or give a closures file with one closure per pair'
        )

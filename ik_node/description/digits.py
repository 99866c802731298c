"""What the digits of a description reveal: its rounding errors, and angles that are rounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from math import hypot, pi, radians
from xml.etree.ElementTree import Element

from ik_node.description.description import quoted
from ik_node.description.doubts import note_degrees
from ik_node.description.xml_document import is_true
from ik_node.errors import counted
from ik_node.model.redundancy import digits_of, rounding_error

# Fewest decimals of a rounded angle: 1.57 is one, while a length of 0.57 is exact.
_ANGLE_DECIMALS = 2
# What the numbers of an attribute are: a position [m], an angle [rad], or parts of a rotation. The
# attribute `euler` is in the unit of the file.
_KINDS = {
    **dict.fromkeys(('xyz', 'pos', 'anchor'), 'm'),
    **dict.fromkeys(('quat', 'xyaxes', 'zaxis', 'axis'), 'direction'),
    'rpy': 'rad',
}
# Elements that place no frame of the mechanism.
_OTHERS = {'visual', 'collision', 'inertial', 'geom', 'light', 'camera', 'sensor', 'asset', 'gui'}
# (n, decimals, significant digits): how many digits a number needs to count as a rounded multiple
# of pi / n. Finer multiples need more digits, or other numbers would match by chance.
_MULTIPLES = ((12, 3, 4), (180, 5, 5))
# Smaller changes than this are ignored [rad].
_LEAST = 1e-9


def fraction_of_pi(text: str) -> Fraction | None:
    """
    Return the fraction of pi whose correct rounding is a number [rad], as written in the file.

    It is a multiple of 1/12 (for example for 1.571, 1.5708 or 3.1416) or of 1/180 (0.17453). None
    for any other number, for 0, and if the number has too few digits; zeros at its end count.
    """
    decimals, significant = digits_of(text)
    for parts, fewest, least in _MULTIPLES:
        if decimals >= fewest and significant >= least:
            count = round(float(text) * parts / pi)
            if count and round(count * pi / parts, decimals) == float(text):
                return Fraction(count, parts)
    return None


def exact_angle(value: float) -> float:
    """Return the exact multiple of pi that an angle [rad] rounds, or the angle itself."""
    result = fraction_of_pi(repr(float(value)))
    return value if result is None else float(result) * pi


def _numbers_of(element: Element, kinds: Mapping[str, str]) -> Iterator[tuple[str, str, slice]]:
    """Yield the kind of some numbers, the attribute ('' = text) and which of its numbers."""
    if element.tag == 'pose':
        yield 'm', '', slice(3)
        plain = element.get('rotation_format', 'euler_rpy') == 'euler_rpy'
        unit = 'degree' if is_true(element.get('degrees')) else 'rad'
        yield unit if plain else 'direction', '', slice(3, None)
    elif element.tag == 'xyz':
        yield 'direction', '', slice(None)
    for name in element.attrib:
        if name in kinds:
            yield 'direction' if element.tag == 'axis' else kinds[name], name, slice(None)
        elif name == 'axisangle':
            yield 'axis', name, slice(3)
            yield kinds['euler'], name, slice(3, None)


def read_digits(root: Element, exact: bool) -> tuple[tuple[float, float], int, list[str]]:
    """
    Return the rounding errors of a description, the number of rounded angles, and notes on angles.

    The errors are the root mean square of those of all positions [m] and rotations [rad]. If
    `exact`, fractions of pi take the place of angles [rad] that round them.
    """
    degrees = root.tag == 'mujoco' and all(
        each.get('angle', 'degree') == 'degree' for each in root.iter('compiler')
    )
    kinds = _KINDS | {'euler': 'degree' if degrees else 'rad'}
    skipped = {each for other in root.iter() if other.tag in _OTHERS for each in other.iter()}
    given = defaultdict[str, list[list[str]]](list)
    angles: list[float] = []
    rounded: list[str] = []
    for element in root.iter():
        for kind, name, which in _numbers_of(element, kinds):
            parts = element.get(name, element.text or '').split()
            if element not in skipped:
                given[kind].append(parts[which])
            for index in range(len(parts))[which] if kind == 'rad' else ():
                part = parts[index]
                with suppress(ValueError):  # The reader of the format says what is wrong.
                    angles.append(float(part))
                result = fraction_of_pi(part)
                if result is not None and abs(float(part) - float(result) * pi) > _LEAST:
                    parts[index] = repr(float(result) * pi)
                    rounded.append(f'{part} = {_in_words(result)}')
                    if exact and name:
                        element.set(name, ' '.join(parts))
                    elif exact:
                        element.text = ' '.join(parts)
    notes = note_degrees(angles)
    if rounded and exact:
        number, said = counted(len(rounded), 'rounded angle'), quoted([*dict.fromkeys(rounded)])
        notes.insert(0, f'{number}, read as fractions of pi: {said}')
    return rounding_of(given), len(rounded), notes


def rounding_of(given: defaultdict[str, list[list[str]]]) -> tuple[float, float]:
    """
    Return the rounding errors of positions [m] and rotations [rad].

    `given`: the numbers of each position, angles or direction, by kind: 'm', 'rad' and so on.
    """
    turns = given['rad'] + given['direction']
    count = max(1, sum(map(bool, turns + given['degree'])))
    errors = (
        rounding_error(chain(*turns, *given['axis']), count, _ANGLE_DECIMALS),
        radians(rounding_error(chain(*given['degree']), count)),
    )
    return rounding_error(chain(*given['m']), sum(map(bool, given['m']))), hypot(*errors)


def _in_words(part: Fraction) -> str:
    over = '' if part.denominator == 1 else f'/{part.denominator}'
    times = {1: '', -1: '-'}.get(part.numerator, f'{part.numerator} ')
    return f'{times}pi{over}'

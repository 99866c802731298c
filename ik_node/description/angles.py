"""Angles in a description that stand for exact fractions of pi, or that look like degrees."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isfinite, pi, radians, remainder
from xml.etree.ElementTree import Element

from ik_node.description.unknown_name import quoted
from ik_node.description.xml_document import is_true, XmlDocument

# (n, decimals, significant digits): how many digits a number needs to count as a rounded multiple
# of pi / n. Finer multiples need more digits, or other numbers would match by chance.
_MULTIPLES = ((12, 3, 4), (180, 5, 5))
# Relative rounding error of double precision.
_ONE_BIT = 2.3e-16
# Smaller changes than this are ignored [rad].
_LEAST = 1e-9
# Larger |angles| are ignored [rad].
_LARGEST = 1e3
# Larger numbers than this are no degrees either: they stand for "unlimited".
_MOST_DEGREES = 720.0
# An angle this near to a multiple of pi is one [rad].
_HALF_TURN = 0.02
# No pose is turned by more than a whole turn [rad].
_WHOLE_TURN = 6.4


def fraction_of_pi(text: str) -> Fraction | None:
    """
    Return the fraction of pi whose correct rounding is the given number.

    Parameters
    ----------
    text : str
        The number [rad] as written in the file; trailing zeros count as digits.

    Returns
    -------
    Fraction or None
        A multiple of 1/12 (for example for 1.571, 1.5708 or 3.1416) or of 1/180 (0.17453). None
        for any other number, for 0, and if the number has too few digits.

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
    found = fraction_of_pi(repr(float(value))) if isfinite(value) else None
    return value if found is None else float(found) * pi


def looks_like_degrees(angle: float, least: float) -> bool:
    """Return True for an angle [rad] above `least` that is no multiple of half a turn."""
    in_range = least <= abs(angle) <= _MOST_DEGREES
    return in_range and abs(remainder(angle, pi)) > _HALF_TURN


def note_degrees(angles: Iterable[float]) -> list[str]:
    """Return a note on the angles of poses [rad] that look like degrees; [] if none does."""
    found = [angle for angle in angles if looks_like_degrees(angle, _WHOLE_TURN)]
    if not found:
        return []
    said = quoted([f'{angle:g}' for angle in dict.fromkeys(found)])
    return [
        f'angles of poses look like degrees, but count as rad: {said}; '
        f'write {radians(found[0]):.8g} for {found[0]:g} degrees'
    ]


class AngleReader:
    """
    A reader that finds rounded angles, and degrees, in the poses of a description.

    Parameters
    ----------
    replaces : bool
        True to replace rounded angles by exact ones, False to count them only.

    Attributes
    ----------
    found : dict of str to Fraction
        The fraction of pi of every rounded angle, by its text in the file.
    count : int
        Number of rounded angles found.

    """

    def __init__(self, replaces: bool) -> None:
        self._replaces = replaces
        self.found: dict[str, Fraction] = {}
        self.count = 0
        self._angles: list[float] = []

    def read(self, document: XmlDocument) -> None:
        """Read rpy attributes of a URDF, poses of an SDFormat file or rotations of an MJCF."""
        root = document.root
        if root.tag == 'robot':
            self._read_attribute(root.iter(), 'rpy', 0)
        elif root.tag == 'sdf':
            self._read_poses(root.iter('pose'))
        elif any(element.get('angle') == 'radian' for element in root.iter('compiler')):
            self._read_attribute(root.iter(), 'euler', 0)
            self._read_attribute(root.iter(), 'axisangle', 3)

    def _read_attribute(self, elements: Iterable[Element], name: str, first: int) -> None:
        for element in elements:
            text = element.get(name)
            if text is not None:
                element.set(name, self._exact(text, first))

    def _read_poses(self, elements: Iterable[Element]) -> None:
        for element in elements:
            plain = element.get('rotation_format', 'euler_rpy') == 'euler_rpy'
            if element.text and plain and not is_true(element.get('degrees')):
                element.text = self._exact(element.text, 3)

    def _exact(self, text: str, first: int) -> str:
        """Return a list of numbers with rounded angles replaced, from index `first` on."""
        parts = text.split()
        for at, part in enumerate(parts[first:], first):
            with suppress(ValueError):  # The reader of the format says what is wrong.
                self._angles.append(float(part))
            found = fraction_of_pi(part)
            if found is not None and abs(float(part) - float(found) * pi) > _LEAST:
                parts[at] = repr(float(found) * pi)
                self.found[part] = found
                self.count += 1
        return ' '.join(parts) if self._replaces else text

    @property
    def notes(self) -> list[str]:
        """Return notes on the replaced angles, and on those that look like degrees."""
        return self._replaced() + note_degrees(self._angles)

    def _replaced(self) -> list[str]:
        if not (self.count and self._replaces):
            return []
        said = quoted([f'{text} = {_in_words(part)}' for text, part in self.found.items()])
        if self.count == 1:
            return [f'1 rounded angle is read as the fraction of pi that it stands for: {said}']
        return [
            f'{self.count} rounded angles are read as the fractions of pi they stand for: {said}'
        ]


def _in_words(part: Fraction) -> str:
    over = '' if part.denominator == 1 else f'/{part.denominator}'
    times = {1: '', -1: '-'}.get(part.numerator, f'{part.numerator} ')
    return f'{times}pi{over}'

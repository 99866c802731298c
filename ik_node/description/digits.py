"""The rounding errors of the numbers with which a description places its frames."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.model.redundancy import rounding_error

# Fewest decimals of a rounded angle: 1.57 is one, while a length of 0.57 is exact.
ANGLE_DECIMALS = 2
# Attributes with a position [m], and with a rotation or direction.
_POSITIONS = ('xyz', 'pos', 'anchor')
_ROTATIONS = ('rpy', 'quat', 'euler', 'axisangle', 'xyaxes', 'zaxis', 'axis')
# Elements that place no frame of the mechanism.
_OTHERS = {'visual', 'collision', 'inertial', 'geom', 'light', 'camera', 'sensor', 'asset', 'gui'}


def rounding_of(root: Element) -> tuple[float, float]:
    """Return the root mean square of the rounding errors of all positions [m], rotations [rad]."""
    texts: tuple[list[str], list[str]] = ([], [])
    waiting = [root]
    while waiting:
        element = waiting.pop()
        waiting += [child for child in element if child.tag not in _OTHERS]
        numbers = (element.text or '').split()
        if element.tag == 'pose':
            texts[0].append(' '.join(numbers[:3]))
            texts[1].append(' '.join(numbers[3:]))
        elif element.tag == 'xyz':
            texts[1].append(' '.join(numbers))
        for name in _POSITIONS:
            texts[element.tag == 'axis'].append(element.get(name, ''))
        texts[1].extend(element.get(name, '') for name in _ROTATIONS)
    lengths, angles = (' '.join(each).split() for each in texts)
    places, rotations = (sum(map(bool, each)) for each in texts)
    return rounding_error(lengths, places), rounding_error(angles, rotations, ANGLE_DECIMALS)

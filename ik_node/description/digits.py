"""The rounding errors of the numbers with which a description places its frames."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.model.redundancy import rounding_error

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
    # Angles such as 1.57 are rounded, lengths of centimetres are not.
    position, rotation = (
        rounding_error(' '.join(each).split(), max(1, sum(map(bool, each))), fewest)
        for each, fewest in zip(texts, (3, 2), strict=True)
    )
    return position, rotation

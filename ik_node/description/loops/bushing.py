"""What a bushing of Drake's holds, in a URDF or an SDFormat file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.etree.ElementTree import Element

from ik_node.description.xml_document import XmlDocument
from ik_node.model.dof import DOF


def stiff_axes(
    document: XmlDocument,
    bushing: Element,
    numbers: Callable[[Element, Sequence[float]], list[float]],
) -> tuple[DOF, ...]:
    """
    Return the axes along and about which a <drake:linear_bushing_rpy> is stiff.

    Parameters
    ----------
    document : XmlDocument
        For errors.
    bushing : Element
        Of the document.
    numbers : callable
        Returns the numbers of an element, as many as its second argument has; each format writes
        them in a place of its own.

    Raises
    ------
    DescriptionError
        If a stiffness is missing, no number, or below 0.

    """
    stiff: list[DOF] = []
    for what, first in (('force', DOF.X), ('torque', DOF.EX)):
        child = document.child(bushing, f'drake:bushing_{what}_stiffness')
        values = numbers(child, (0.0, 0.0, 0.0))
        if min(values) < 0.0:
            raise document.error(child, 'a stiffness is below 0')
        stiff += [DOF(first + axis) for axis in range(3) if values[axis] > 0.0]
    return tuple(stiff)

"""Masses and centres of mass of links, from an <inertial> of SDFormat."""

from __future__ import annotations

from collections.abc import Iterable

from ik_node.description.description import Description
from ik_node.description.sdf.flag import is_true
from ik_node.description.sdf.frame import SdfFrame
from ik_node.description.sdf.pose import read_pose
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import shown


def read_inertials(
    document: XmlDocument, links: Iterable[SdfFrame], description: Description
) -> None:
    """
    Give links their mass [kg] and centre of mass [m].

    Without <inertial> or <mass> that is 1 kg, as the format says. Of the tensor of inertia nothing
    is read.

    Raises
    ------
    DescriptionError
        With line, if a mass is negative, or a number is none or not finite.

    """
    bare: list[str] = []
    computed: list[str] = []
    for frame in links:
        link, inertial = description.links[frame.name], frame.element.find('inertial')
        mass = None if inertial is None else inertial.find('mass')
        link.mass = document.text_numbers(mass, (1.0,))[0]
        if link.mass < 0.0:
            message = f'{link.mass:g}: the mass of link {shown(link.name)} is below 0 kg'
            raise document.error(frame.element, message)
        if inertial is not None:
            link.centre_of_mass = read_pose(document, inertial.find('pose'))[:3, 3].copy()
        if mass is None:
            auto = inertial is not None and is_true(inertial.get('auto'))
            (computed if auto else bare).append(link.name)
    for names, why in (
        (bare, 'no mass is written'),
        (computed, 'its mass is to be computed from shapes, which are not read'),
    ):
        if names:
            more = f' and {len(names) - 6} more' if len(names) > 6 else ''
            listed = ', '.join(map(shown, names[:6]))
            description.notes.append(f'links {listed}{more}: {why}, taken as 1 kg')

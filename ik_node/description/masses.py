"""Masses and centres of mass of links, from <inertial>."""

from __future__ import annotations

from ik_node.description.description import Description
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import shown
from ik_node.model.link import Link
from ik_node.model.rotation import pose_matrix
import numpy as np


def read_masses(document: XmlDocument, description: Description) -> None:
    """
    Give the links of a URDF their mass [kg] and centre of mass [m].

    A link without <inertial> has no mass. Of the tensor of inertia nothing is read, nor is the
    rotation of <origin>, which turns nothing else.

    Raises
    ------
    DescriptionError
        With line, if a mass is negative, or a number is none or not finite.

    """
    for element in document.root.findall('link'):
        inertial = element.find('inertial')
        if inertial is None:
            continue
        link = description.links[element.attrib['name']]
        mass = inertial.find('mass')
        if mass is None or mass.get('value') is None:
            description.notes.append(
                f'link {shown(link.name)}: <inertial> without a mass, taken as 0'
            )
            continue
        link.mass = document.numbers(mass, 'value', (0.0,))[0]
        if link.mass < 0.0:
            raise document.error(
                mass, f'value="{link.mass:g}": the mass of link {shown(link.name)} is below 0 kg'
            )
        xyz = document.numbers(inertial.find('origin'), 'xyz', (0.0, 0.0, 0.0))
        link.centre_of_mass = np.array(xyz)


def merge_mass(link: Link, into: Link) -> None:
    """Add the mass of a link to the one that its joint, a fixed one, hangs under."""
    if link.parent is None or link.mass == 0.0:
        return
    here = pose_matrix(link.parent.position, link.parent.quaternion)
    there = here @ pose_matrix(link.position, link.quaternion) @ [*link.centre_of_mass, 1.0]
    total = into.mass + link.mass
    into.centre_of_mass = (into.mass * into.centre_of_mass + link.mass * there[:3]) / total
    into.mass = total

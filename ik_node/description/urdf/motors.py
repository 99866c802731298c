"""Which joints a URDF says have a motor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element

# what moves at the end of a transmission: ros_control's and ros2_control's, then PR2's
TRANSMITTED = ('joint', 'leftjoint', 'rightjoint', 'flexjoint', 'rolljoint', 'gap_joint')


def driven_joints(elements: Sequence[Element]) -> list[str]:
    """
    Return what <ros2_control> or else <transmission> drives, each name once, known or not.

    Parameters
    ----------
    elements : sequence of Element
        Those below the root element of a URDF, or some of them.

    """
    return commanded_joints(elements) or _names(
        child
        for element in elements
        if element.tag == 'transmission'
        for child in element
        if str(child.tag).lower() in TRANSMITTED
    )


def commanded_joints(elements: Iterable[Element]) -> list[str]:
    """Return what <ros2_control> alone drives: joints, or single values NAME.EZ of them."""
    return _names(
        joint
        for element in elements
        if element.tag == 'ros2_control'
        for joint in element.findall('joint')
        if joint.find('command_interface') is not None
    )


def _names(joints: Iterable[Element]) -> list[str]:
    return list(dict.fromkeys(filter(None, (joint.get('name') for joint in joints))))

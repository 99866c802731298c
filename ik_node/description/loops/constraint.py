"""
Reader of the <constraint> element proposed for urdfdom (ros/urdfdom#264).

::

    <constraint name="c" type="revolute">
      <parent link="a"/> <parent_origin xyz="0 0 0" rpy="0 0 0"/> <parent_axis xyz="0 0 1"/>
      <child link="b"/> <child_origin xyz="0 0 0" rpy="0 0 0"/> <child_axis xyz="0 0 1"/>
    </constraint>
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Loop, LoopSet
from ik_node.description.loops.loop_frames import (
    LoopNames,
    read_axis,
    read_end,
    read_type,
    turn_frame,
    X,
    Y,
    Z,
)
from ik_node.description.loops.urdf_plus import is_constraint
from ik_node.description.xml_document import XmlDocument

TYPES = {
    'revolute': 'revolute',
    'continuous': 'revolute',
    'prismatic': 'prismatic',
    'universal': 'universal',
    'spherical': 'spherical',
    'ball': 'spherical',
    'link': 'weld',
    'fixed': 'weld',
    'planar': 'planar',
}


def read_constraints(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read every <constraint> below the root element that is not one of URDF+.

    The child's frame is frame_a, the parent's frame is frame_b. Axes are given in these frames.

    Raises
    ------
    DescriptionError
        With the line of the element.

    """
    names = LoopNames(document, description)
    loops = [
        _read_loop(document, element, description, names)
        for element in document.root.findall('constraint')
        if not is_constraint(element)
    ]
    return LoopSet(document.source, 'constraint' if loops else '', loops)


def _read_loop(
    document: XmlDocument, element: Element, description: Description, names: LoopNames
) -> Loop:
    written = read_type(document, element, tuple(TYPES))
    name, kind = names.of(element), TYPES[written]
    frame_a, frame_b = (read_end(document, element, tag) for tag in ('child', 'parent'))
    if kind not in ('weld', 'spherical'):
        parent_axis, child_axis = element.find('parent_axis'), element.find('child_axis')
        if parent_axis is None:
            description.notes.append(f'constraint {name!r}: no <parent_axis>, taken as 1 0 0')
        axis_b = read_axis(document, parent_axis, element, X)
        if kind == 'universal' and child_axis is None:  # there it is not the parent's
            raise document.error(element, 'the element <child_axis> is missing')
        axis_a = read_axis(document, child_axis, element, axis_b.tolist())
        turn_frame(frame_b, axis_b, X if kind == 'universal' else Z)
        turn_frame(frame_a, axis_a, Y if kind == 'universal' else Z)
    return Loop(name, frame_a, frame_b, kind, line=document.line(element))

"""Isaac Sim's <loop_joint> inside a URDF, with our optional attributes."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.description import Description
from ik_node.description.loop import Loop, LoopFrame, LoopSet
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import IkError, UnsupportedElementError
from ik_node.model.closure import Closure, CLOSURE_TYPES
from ik_node.model.dof import parse_dofs
from ik_node.model.rotation import quat_between, quat_from_euler, quat_multiply
import numpy as np

AXIAL_TYPES = ('hinge', 'revolute', 'continuous', 'slider', 'prismatic', 'planar')


def read_loop_joints(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read every <loop_joint> below the root element.

    Its <link1> is frame_a, its <link2> frame_b. The element's own `type` names the constrained
    axes; ours are the optional attributes `dof` (which wins over the type), `distance`,
    `tolerance` and `enabled`. An <axis>, which Isaac ignores, becomes the z of both frames.

    Raises
    ------
    DescriptionError
        With the line of the element.

    """
    loops = [_read_loop(document, element) for element in document.root.findall('loop_joint')]
    return LoopSet(document.source, 'loop_joint' if loops else '', loops)


def _read_loop(document: XmlDocument, element: Element) -> Loop:
    name = document.attribute(element, 'name')
    dof_text = element.get('dof')
    type_name = element.get('type', 'weld') if dof_text is not None else None
    if type_name is None:
        type_name = document.attribute(element, 'type')
    if type_name not in CLOSURE_TYPES:
        raise document.error(
            element,
            f'type="{type_name}" is not known; allowed: {" ".join(CLOSURE_TYPES)}',
            UnsupportedElementError,
        )
    frames = [_read_frame(document, end) for end in _ends(document, element)]
    if type_name in AXIAL_TYPES:
        axis = document.numbers(element.find('axis'), 'xyz', (0.0, 0.0, 1.0))
        if not np.any(axis):
            raise document.error(element, 'the axis 0 0 0 has no direction')
        turn = quat_between((0.0, 0.0, 1.0), axis)
        for frame in frames:
            frame.quat_xyzw = quat_multiply(frame.quat_xyzw, turn)
    loop = Loop(name, frames[0], frames[1], type_name, line=document.line(element))
    if dof_text is not None:
        _read_dofs(document, element, loop, dof_text)
    if loop.type_name == 'distance' and element.get('distance') is None:
        raise document.error(element, 'type="distance" needs the attribute distance="..." in [m]')
    loop.distance = document.numbers(element, 'distance', (0.0,))[0]
    tolerance = element.get('tolerance')
    if tolerance is not None:
        loop.tolerance = document.numbers(element, 'tolerance', (0.0,) * len(tolerance.split()))
        if len(loop.tolerance) not in (1, 2):
            raise document.error(element, 'tolerance: expected one number, or two: [m] and [rad]')
    if loop.distance < 0.0 or (loop.tolerance and min(loop.tolerance) < 0.0):
        raise document.error(element, 'distance and tolerance must be 0 or more')
    if loop.tolerance and len(loop.tolerance) == 1:
        loop.tolerance *= 2
    enabled = element.get('enabled', 'true').strip().lower()
    if enabled not in ('true', 'false', '1', '0'):
        raise document.error(element, f'enabled="{enabled}": expected true or false')
    loop.enabled = enabled in ('true', '1')
    return loop


def _read_dofs(document: XmlDocument, element: Element, loop: Loop, text: str) -> None:
    if Closure.rows_of_type(loop.type_name)[0] != 'frame':
        raise document.error(
            element, f'dof="{text}" cannot go with type="{loop.type_name}"; leave one out'
        )
    try:
        loop.dofs = parse_dofs(text)
    except IkError as error:
        raise document.error(element, str(error)) from None


def _ends(document: XmlDocument, element: Element) -> list[Element]:
    firsts, seconds = element.findall('link1'), element.findall('link2')
    ends = firsts[:1] + (seconds or firsts[1:])  # Isaac's own documentation writes link1 twice
    if len(firsts) < 1 or len(ends) != 2:
        raise document.error(
            element, 'expected <link1 link="..."/> and <link2 link="..."/>, once each'
        )
    return ends


def _read_frame(document: XmlDocument, element: Element) -> LoopFrame:
    return LoopFrame(
        document.attribute(element, 'link'),
        np.array(document.numbers(element, 'xyz', (0.0, 0.0, 0.0))),
        quat_from_euler(*document.numbers(element, 'rpy', (0.0, 0.0, 0.0))),
    )

"""
URDF+, https://arxiv.org/abs/2411.19753, and what exporters make of it.

::

    <loop name="l" type="revolute">
      <predecessor link="a"><origin xyz="0 0 0" rpy="0 0 0"/></predecessor>
      <successor link="b"><origin xyz="0 0 0" rpy="0 0 0"/></successor>
      <axis xyz="1 0 0"/>
    </loop>
    <coupling name="c">
      <predecessor link="a"/> <successor link="b"/> <ratio value="6"/>
    </coupling>

Its own exporter writes both as <constraint>; before 2024 they were <constraint type="position">
and <constraint type="rolling">, with origins in elements of their own. An exporter of Fusion
writes `name` for `link`, and <sucessor>. A joint with independent="false" has no motor.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.description import Description
from ik_node.description.loop import Loop, LoopSet
from ik_node.description.loops.link_coupling import LinkCoupling
from ik_node.description.loops.loop_frames import read_axis, read_frame, read_type, turn_frame, X
from ik_node.description.loops.loop_names import LoopNames
from ik_node.description.xml_document import XmlDocument

LOOP_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar')
OLD_TYPES = ('position', 'rolling')
ALSO_READ = ('spherical', 'ball')  # nobody writes them, but there is no doubt
SPELLINGS = ('successor', 'sucessor', 'succesor')


def read_urdf_plus(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read <loop>, <coupling>, what the exporter calls <constraint>, and which joints have motors.

    The predecessor is frame_b, the successor frame_a.

    Raises
    ------
    DescriptionError
        With the line of the element.

    """
    found = LoopSet(document.source)
    names = LoopNames(document, description)
    dependent = {
        joint.get('name', '')
        for joint in document.root.findall('joint')
        if joint.get('independent', 'true').strip() not in ('true', 'True')
    }
    coupling = LinkCoupling(description, names, found, dependent)
    for element in document.root:
        if element.tag == 'coupling' or (is_constraint(element) and _is_rolling(element)):
            _read_coupling(document, element, names, coupling)
        elif element.tag == 'loop' or is_constraint(element):
            found.loops.append(_read_loop(document, element, names))
    if dependent and not description.actuated:
        followers = {rule.joint for rule in found.couplings} | dependent
        found.actuated = [
            joint.name
            for joint in description.joint_order
            if joint.name not in followers and len(joint.dof) == 1 and not joint.couplings
        ]
    if found.loops or found.couplings or dependent:
        found.dialect = 'URDF+'
    return found


def is_constraint(element: Element) -> bool:
    """Say whether it is a <constraint> of URDF+, not one of urdfdom's proposal."""
    return element.tag == 'constraint' and element.find('predecessor') is not None


def _is_rolling(element: Element) -> bool:
    written = element.get('type')
    return written == 'rolling' or (written is None and element.find('ratio') is not None)


def _read_loop(document: XmlDocument, element: Element, names: LoopNames) -> Loop:
    allowed = LOOP_TYPES + OLD_TYPES[:1] + ALSO_READ
    type_name = read_type(document, element, allowed)
    ends = []
    for end in _ends(document, element):
        pose = end.find('origin')
        pose = element.find(f'{end.tag}_origin') if pose is None else pose
        ends.append(read_frame(document, _link(document, end), pose))
    frame_b, frame_a = ends
    if type_name in LOOP_TYPES and type_name != 'fixed':
        axis = read_axis(document, element.find('axis'), element, X)
        turn_frame(frame_a, axis)
        turn_frame(frame_b, axis)
    kind = 'point' if type_name == 'position' else type_name
    return Loop(names.of(element), frame_a, frame_b, kind, line=document.line(element))


def _read_coupling(
    document: XmlDocument, element: Element, names: LoopNames, coupling: LinkCoupling
) -> None:
    first, second = (_link(document, end) for end in _ends(document, element))
    ratio = document.numbers(element.find('ratio'), 'value', (1.0,))[0]
    ratio *= document.numbers(element.find('polarity'), 'value', (1.0,))[0]
    coupling.add(names.of(element), (first, second), ratio, document, element)


def _ends(document: XmlDocument, element: Element) -> tuple[Element, Element]:
    """Return the predecessor and the successor."""
    spelled = (element.find(tag) for tag in SPELLINGS)
    successor = next((end for end in spelled if end is not None), None)
    if successor is None:
        raise document.error(element, 'the element <successor> is missing')
    return document.child(element, 'predecessor'), successor


def _link(document: XmlDocument, end: Element) -> str:
    if end.get('link') is None and end.get('name'):
        return document.attribute(end, 'name')
    return document.attribute(end, 'link')

"""
Reader of URDF+, https://arxiv.org/abs/2411.19753, and of the variants that exporters write.

::

    <loop name="l" type="revolute">
      <predecessor link="a"><origin xyz="0 0 0" rpy="0 0 0"/></predecessor>
      <successor link="b"><origin xyz="0 0 0" rpy="0 0 0"/></successor>
      <axis xyz="1 0 0"/>
    </loop>
    <coupling name="c">
      <predecessor link="a"/> <successor link="b"/> <ratio value="6"/>
    </coupling>

The exporter of URDF+ writes both as <constraint>. Before 2024 it wrote <constraint
type="position"> and <constraint type="rolling">, with the origins in separate elements. An
exporter of Fusion writes `name` for `link`, and <sucessor>. A joint with independent="false" has
no motor.

The reader of the <constraint> proposed for urdfdom (ros/urdfdom#264) is here as well::

    <constraint name="c" type="revolute">
      <parent link="a"/> <parent_origin xyz="0 0 0" rpy="0 0 0"/> <parent_axis xyz="0 0 1"/>
      <child link="b"/> <child_origin xyz="0 0 0" rpy="0 0 0"/> <child_axis xyz="0 0 1"/>
    </constraint>
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ik_node.description.description import CouplingRule, Description, Loop, LoopSet, unknown
from ik_node.description.loops.couplings import rule_of_sum
from ik_node.description.loops.loop_frames import (
    LoopNames,
    note_limit,
    read_axis,
    read_end,
    read_frame,
    read_type,
    turn_frame,
    X,
    Y,
    Z,
)
from ik_node.description.tree import joints_above
from ik_node.description.xml_document import XmlDocument
from ik_node.model.joint import Joint

MAX_STEPS = 1_000_000


class LinkCoupling:
    """
    A converter of couplings between links to couplings between joints.

    Notes
    -----
    Starting from the last link that both branches share, the sum of the joint values down to the
    successor equals `ratio` times the sum of those down to the predecessor. With one joint in each
    branch this is a coupling with one master. With more joints, one of them follows the others.

    """

    def __init__(self, description: Description, result: LoopSet, dependent: set[str]) -> None:
        self._description = description
        self._result = result
        self._dependent = dependent
        self._steps = 0

    def add(
        self,
        name: str,
        links: tuple[str, str],
        ratio: float,
        document: XmlDocument,
        element: Element,
    ) -> None:
        """Couple a predecessor link and a successor link."""
        for link in links:
            if link not in self._description.links:
                raise document.error(element, unknown('link', link, [*self._description.links]))
        first, second = self._paths(links, document, element)
        for joint in first + second:
            if len(joint.dof) != 1:
                raise document.error(
                    element, f'the joint {joint.name!r} between its links must have one DoF'
                )
        line = document.line(element)
        if not first or not second or ratio == 0.0:
            self._description.notes.append(
                f'coupling {name!r} is not used: no joint moves one of its links against the '
                'other, or its ratio is 0'
            )
        elif len(first) == len(second) == 1:
            leader, follower = first[0].name, second[0].name
            if leader in self._dependent and follower not in self._dependent:
                leader, follower, ratio = follower, leader, 1.0 / ratio
            self._result.couplings.append(CouplingRule(follower, leader, [0.0, ratio], line))
        else:
            terms = [(joint, ratio) for joint in first] + [(joint, -1.0) for joint in second]
            self._add_sum(name, terms, line)

    def _paths(
        self, links: tuple[str, str], document: XmlDocument, element: Element
    ) -> tuple[list[Joint], list[Joint]]:
        """Return the movable joints of each branch, from the last shared link down to the link."""
        paths = []
        for name in links:
            path = list(joints_above(self._description.links[name]))
            paths.append(path[::-1])
            self._steps += len(path)
            if self._steps > MAX_STEPS:
                raise document.error(element, 'too many couplings of links far from the root')
        shared = 0
        for one, other in zip(*paths, strict=False):
            if one is not other:
                break
            shared += 1
        first, second = ([joint for joint in path[shared:] if joint.dof] for path in paths)
        return first, second

    def _add_sum(self, name: str, terms: list[tuple[Joint, float]], line: int | None) -> None:
        mimics = [
            CouplingRule(joint.name, each.master.name, list(each.coefficients))
            for joint in self._description.joint_order
            for each in joint.couplings.values()
        ]
        leading = [joint.name for joint, _ in terms if joint.name not in self._dependent]
        equation = {joint.name: (0.0, factor) for joint, factor in terms[::-1]}
        rule = rule_of_sum(equation, [*mimics, *self._result.couplings], leading, line)
        if rule is None:
            self._description.notes.append(
                f'coupling {name!r} is not used: its joints follow others already'
            )
        else:
            self._result.couplings.append(rule)


LOOP_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar')
OLD_TYPES = ('position', 'rolling')
ALSO_READ = ('spherical', 'ball')  # no exporter writes them, but the meaning is clear
SPELLINGS = ('successor', 'sucessor', 'succesor')


def read_urdf_plus(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read <loop>, <coupling>, the exporter's <constraint>, and which joints have motors.

    The predecessor is frame_b, the successor is frame_a.
    """
    result = LoopSet(document.source)
    names = LoopNames(document, description)
    dependent = {
        joint.get('name', '')
        for joint in document.root.findall('joint')
        if joint.get('independent', 'true').strip() not in ('true', 'True')
    }
    coupling = LinkCoupling(description, result, dependent)
    for element in document.root:
        if element.tag == 'coupling' or (is_constraint(element) and _is_rolling(element)):
            _read_coupling(document, element, names, coupling)
        elif element.tag == 'loop' or is_constraint(element):
            loop = _read_loop(document, element, names)
            note_limit(element, loop.name, description.notes)
            result.loops.append(loop)
    if dependent and not description.actuated:
        followers = {rule.joint for rule in result.couplings} | dependent
        result.actuated = [
            joint.name
            for joint in description.joint_order
            if joint.name not in followers and len(joint.dof) == 1 and not joint.couplings
        ]
    if result.loops or result.couplings or dependent:
        result.dialect = 'URDF+'
    return result


def is_constraint(element: Element) -> bool:
    """Return True for a <constraint> of URDF+, False for one of urdfdom's proposal."""
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
    """
    names = LoopNames(document, description)
    loops = [
        _read_constraint(document, element, description, names)
        for element in document.root.findall('constraint')
        if not is_constraint(element)
    ]
    return LoopSet(document.source, 'constraint' if loops else '', loops)


def _read_constraint(
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

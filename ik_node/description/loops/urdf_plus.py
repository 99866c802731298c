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

from functools import cached_property
from xml.etree.ElementTree import Element

from ik_node.description.description import LoopFrame
from ik_node.description.loops.couplings import rule_of_sum
from ik_node.description.loops.loop_frames import LoopReader, turn_frame, X, Y, Z
from ik_node.description.tree import joints_above
from ik_node.model.joint import Joint

LOOP_TYPES = ('revolute', 'continuous', 'prismatic', 'planar')
# No exporter writes spherical and ball, but the meaning is clear.
ALLOWED = (*LOOP_TYPES[:3], 'fixed', 'planar', 'position', 'spherical', 'ball')
SPELLINGS = ('successor', 'sucessor', 'succesor')


def is_constraint(element: Element) -> bool:
    """Return True for a <constraint> of URDF+, False for one of urdfdom's proposal."""
    return element.tag == 'constraint' and element.find('predecessor') is not None


def _is_rolling(element: Element) -> bool:
    written = element.get('type')
    return written == 'rolling' or (written is None and element.find('ratio') is not None)


class UrdfPlusReader(LoopReader):
    """
    A reader of <loop>, <coupling>, the exporter's <constraint>, and which joints have motors.

    The predecessor is frame_b, the successor is frame_a.
    """

    dialect = 'URDF+'

    @cached_property
    def _dependent(self) -> set[str]:
        return {
            joint.get('name', '')
            for joint in self.document.root.findall('joint')
            if joint.get('independent', 'true').strip() not in ('true', 'True')
        }

    def read(self, element: Element) -> None:
        """Read an element if it is a loop or a coupling."""
        if element.tag == 'coupling' or (is_constraint(element) and _is_rolling(element)):
            self._read_coupling(element)
        elif element.tag == 'loop' or is_constraint(element):
            self._read_loop(element)

    def finish(self) -> None:
        """Take the joints that follow no other as those with motors."""
        if self._dependent and not self.description.actuated:
            rules = [*self.description.couplings, *self.result.couplings]
            followers = {rule.joint for rule in rules} | self._dependent
            self.result.actuated = [
                joint.name
                for joint in self.description.joint_order
                if joint.name not in followers and len(joint.dof) == 1
            ]

    def _read_loop(self, element: Element) -> None:
        type_name = self.document.word(element, 'type', ALLOWED)
        frames: list[LoopFrame] = []
        for end in self._ends(element):
            pose = end.find('origin')
            pose = element.find(f'{end.tag}_origin') if pose is None else pose
            frames.insert(0, self.frame(self._link(end), pose))
        if type_name in LOOP_TYPES:
            axis = self.axis(element.find('axis'), element, X)
            for frame in frames:
                turn_frame(frame, axis)
        kind = 'point' if type_name == 'position' else type_name
        self.add(element, self.name_of(element), frames, kind)

    def _ends(self, element: Element) -> tuple[Element, Element]:
        """Return the predecessor and the successor."""
        spelled = (element.find(tag) for tag in SPELLINGS)
        successor = next((end for end in spelled if end is not None), None)
        if successor is None:
            raise self.document.error(element, 'the element <successor> is missing')
        return self.document.child(element, 'predecessor'), successor

    def _link(self, end: Element) -> str:
        by_name = end.get('link') is None and end.get('name')
        return self.document.attribute(end, 'name' if by_name else 'link')

    def _read_coupling(self, element: Element) -> None:
        """
        Convert a coupling between links to one between joints.

        Starting from the last link that both branches share, the sum of the joint values down to
        the successor equals `ratio` times the sum of those down to the predecessor. One of the
        joints follows the others.
        """
        document, line = self.document, self.document.line(element)
        links = [self._link(end) for end in self._ends(element)]
        ratio = document.numbers(element.find('ratio'), 'value', (1.0,))[0]
        ratio *= document.numbers(element.find('polarity'), 'value', (1.0,))[0]
        name = self.name_of(element)
        for link in links:
            document.known(element, 'link', link, self.description.links)
        first, second = self._paths(links)
        for joint in first + second:
            if len(joint.dof) != 1:
                message = f'the joint {joint.name!r} between its links must have one DoF'
                raise document.error(element, message)
        if not first or not second or ratio == 0.0:
            self.notes.append(
                f'coupling {name!r} is not used: no joint moves one of its links against the '
                'other, or its ratio is 0'
            )
            return
        terms = {joint.name: (0.0, -1.0) for joint in second[::-1]}
        terms |= {joint.name: (0.0, ratio) for joint in first[::-1]}
        leading = [joint for joint in terms if joint not in self._dependent]
        known = [*self.description.couplings, *self.result.couplings]
        rule = rule_of_sum(terms, known, leading, line)
        if rule is None:
            self.notes.append(f'coupling {name!r} is not used: its joints follow others already')
        else:
            self.result.couplings.append(rule)

    def _paths(self, links: list[str]) -> tuple[list[Joint], list[Joint]]:
        """Return the movable joints of each branch, from the last shared link down to the link."""
        paths = [list(joints_above(self.description.links[name]))[::-1] for name in links]
        pairs = enumerate(zip(*paths, strict=False))
        shared = next((k for k, (one, other) in pairs if one is not other), min(map(len, paths)))
        first, second = ([joint for joint in path[shared:] if joint.dof] for path in paths)
        return first, second


TYPES = {
    **dict.fromkeys(('revolute', 'continuous'), 'revolute'),
    **dict.fromkeys(('spherical', 'ball'), 'spherical'),
    **dict.fromkeys(('link', 'fixed'), 'weld'),
    **{name: name for name in ('prismatic', 'universal', 'planar')},
}


class ConstraintReader(LoopReader):
    """
    A reader of every <constraint> that is not one of URDF+.

    The child's frame is frame_a, the parent's frame is frame_b. Axes are given in these frames.
    """

    dialect = 'constraint'

    def read(self, element: Element) -> None:
        """Read an element if it is such a <constraint>."""
        if element.tag != 'constraint' or is_constraint(element):
            return
        kind, name = (
            TYPES[self.document.word(element, 'type', tuple(TYPES))],
            self.name_of(element),
        )
        frame_a, frame_b = (self.end(element, tag) for tag in ('child', 'parent'))
        if kind not in ('weld', 'spherical'):
            universal = kind == 'universal'
            parent_axis, child_axis = element.find('parent_axis'), element.find('child_axis')
            if parent_axis is None:
                self.notes.append(f'constraint {name!r}: no <parent_axis>, taken as 1 0 0')
            axis_b = self.axis(parent_axis, element, X)
            if universal:  # there it is not the parent's
                self.document.child(element, 'child_axis')
            axis_a = self.axis(child_axis, element, axis_b.tolist())
            turn_frame(frame_b, axis_b, X if universal else Z)
            turn_frame(frame_a, axis_a, Y if universal else Z)
        self.add(element, name, (frame_a, frame_b), kind)

"""Writers of a description as URDF, of its loops as YAML, and of an SRDF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from math import inf
import re
from typing import Any
from xml.etree.ElementTree import Element, indent, SubElement, tostring
from xml.sax.saxutils import quoteattr

from ik_node.description.description import CouplingRule, Description, Source
from ik_node.description.loops.closing_frames import is_closing_frame, TAG
from ik_node.description.loops.loop_frames import LOOP_ELEMENTS
from ik_node.description.sdf.loops import is_detachable, welds_own_links
from ik_node.description.urdf import driven_joints
from ik_node.description.writers.plain_tree import (
    ends_of,
    floats,
    number_text,
    OWN_TYPES,
    PlainJoint,
    PlainTree,
    Pose,
    rpy_of,
    settings_of,
    URDF_TYPES,
    written,
)
from ik_node.description.xml_document import parse_xml
from ik_node.errors import DescriptionError, TopologyError
from ik_node.model.constraint import Closure
from ik_node.model.link import Link
import numpy as np
from numpy.typing import NDArray

# Elements that the writer writes itself.
WRITTEN_TAGS = ('link', 'joint', 'loop_joint', 'joint_coupling', 'joint_start', 'closing_frames')
OWN_JOINT_TAGS = ('origin', 'parent', 'child', 'axis', 'limit', 'mimic')
OWN_LIMITS = ('lower', 'upper', 'velocity', 'effort', 'unlimited')
MOTOR_TAGS = ('ros2_control', 'transmission')
# A character that XML 1.0 does not allow.
FORBIDDEN = re.compile('[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')


class Carried:
    """
    The elements of a source URDF that are carried over: shapes, inertia, materials.

    It is empty for a robot that was not read from a URDF. `attributes` are those of the root
    element, `tops` and `motors` its children: materials, gazebo and so on, and those that declare
    motors. `left_out` has the tags of children that are not carried over.
    """

    def __init__(self, description: Description) -> None:
        self.attributes: dict[str, str] = {}
        self.tops: list[Element] = []
        self.motors: list[Element] = []
        self.left_out: list[str] = []
        self._links: dict[str, Element] = {}
        self._joints: dict[str, Element] = {}
        for source in description.sources:
            root = _root_of(source)
            if root is not None:
                self._read(root, source.prefix, description)

    def _read(self, root: Element, prefix: str, description: Description) -> None:
        self.attributes |= {key: value for key, value in root.attrib.items() if key != 'name'}
        if prefix:  # robots with prefixes are often combined: each has materials of its own
            for material in root.iter('material'):
                if material.get('name'):
                    material.set('name', prefix + material.get('name', ''))
        for element in root:
            tag, name = str(element.tag), prefix + element.get('name', '')
            if tag == 'link' and name in description.links:
                self._links[name] = element
            elif tag == 'joint' and name in description.joints:
                self._joints[name] = element
            elif tag in MOTOR_TAGS and not prefix:
                self.motors.append(deepcopy(element))
            elif tag in (*WRITTEN_TAGS, *MOTOR_TAGS):
                continue
            elif tag in LOOP_ELEMENTS or tag.startswith('drake:') or (prefix and tag == 'gazebo'):
                # It would declare a loop a second time, or names links without the prefix.
                self.left_out.append(tag)
            else:
                self._carry_top(element, root.get('name', ''))

    def of_link(self, name: str) -> list[Element]:
        """Return copies of the children of a link."""
        return [deepcopy(element) for element in self._links.get(name, ())]

    def of_joint(self, name: str) -> list[Element]:
        """Return copies of the children of a joint that do not concern kinematics."""
        return [
            deepcopy(element)
            for element in self._joints.get(name, ())
            if element.tag not in OWN_JOINT_TAGS and not str(element.tag).startswith('drake:')
        ]

    def limit_of(self, name: str) -> dict[str, str]:
        """Return the attributes of a joint's limit that the model does not have."""
        joint = self._joints.get(name)
        limit = None if joint is None else joint.find('limit')
        result = {} if limit is None else limit.attrib
        return {key: value for key, value in result.items() if key not in OWN_LIMITS}

    def _carry_top(self, element: Element, robot: str) -> None:
        copy = deepcopy(element)
        if copy.tag == 'gazebo':  # the loops of its joints and welds are written as closures
            for joint in copy.findall('joint'):
                copy.remove(joint)
            for plugin in filter(is_detachable, copy.findall('plugin')):
                if welds_own_links(plugin, robot):
                    copy.remove(plugin)
            if not len(copy) and len(element):
                return
        self.tops.append(copy)


def _root_of(source: Source) -> Element | None:
    """Return the root element of a text, or None if it is no URDF."""
    if not source.text:
        return None
    try:
        root = parse_xml(source.text, source.name).root
    except DescriptionError:  # it was read from another kind of file
        return None
    templates = any(str(element.tag).startswith('xacro:') for element in root.iter())
    return root if root.tag == 'robot' and not templates else None


def says_mass(inertial: Element | None, link: Link) -> bool:
    """Return True if an <inertial> of the source has the present mass and centre of a link."""
    mass = None if inertial is None else inertial.find('mass')
    if inertial is None or mass is None or mass.get('value') is None:
        return link.mass == 0.0 and not link.centre_of_mass.any()
    origin = inertial.find('origin')
    xyz = '0 0 0' if origin is None else origin.get('xyz', '0 0 0')
    said = [float(part) for part in (mass.attrib['value'], *xyz.split())]
    return said == [link.mass, *link.centre_of_mass.tolist()]


# Placeholder where URDF requires a number and there is no limit; the attribute `unlimited` marks
# it.
UNLIMITED = 1e9
AXIAL_TYPES = ('revolute', 'prismatic', 'planar')


def to_urdf(
    description: Description, start: Mapping[str, float] | None = None, *, loops: bool = True
) -> str:
    """
    Write a description as URDF, which reads back to an equal one; see `Robot.to_urdf`.

    The present state of its objects is written, including changed limits and closures, and the
    initial joint values `start` [rad or m] by name. Other tools ignore <loop_joint>,
    <joint_coupling>, <joint_start>, and the attribute `unlimited` of a <limit>.
    """
    return _UrdfText(description, start or {}, loops).text


class _UrdfText:
    def __init__(self, description: Description, start: Mapping[str, float], loops: bool) -> None:
        self._description = description
        self._tree = PlainTree(description)
        self._carried = Carried(description)
        self._mimics, others = self._tree.couplings()
        self._remarks: list[str] = []
        self._no_inertia = False
        _check_names('robot', [description.name])
        _check_names('link', self._tree.links)
        _check_names('joint', [plain.name for plain in self._tree.joints])
        _check_names('closure', description.closures)
        robot = Element('robot', {'name': description.name, **self._carried.attributes})
        robot.extend(element for element in self._carried.tops if element.tag == 'material')
        for name in self._tree.links:
            self._link(robot, name)
        for plain in self._tree.joints:
            self._joint(robot, plain)
        self._starts(robot, start)
        if any(map(is_closing_frame, self._tree.links)):
            # The loops are declared, so their names do not make more of them.
            SubElement(robot, TAG, {'guess': 'false'})
        if loops:
            for closure in description.closures.values():
                _loop_joint(robot, closure)
            for rule in others:
                _joint_coupling(robot, rule)
        self._motors(robot)
        robot.extend(element for element in self._carried.tops if element.tag != 'material')
        indent(robot)
        # Attributes and text have &gt; instead of >, so ' />' is always the end of a tag.
        body = tostring(robot, encoding='unicode').replace(' />', '/>')
        self.text = f'<?xml version="1.0"?>\n{self._comment()}\n{body}\n'

    def _link(self, robot: Element, name: str) -> None:
        element = SubElement(robot, 'link', {'name': name})
        link = self._description.links.get(name)
        if link is None:
            return
        carried = self._carried.of_link(name)
        inertial = next((each for each in carried if each.tag == 'inertial'), None)
        if not says_mass(inertial, link):
            carried = [each for each in carried if each.tag != 'inertial']
            if link.mass > 0.0 or np.any(link.centre_of_mass):
                _inertial(element, link)
                self._no_inertia = True
        element.extend(carried)

    def _joint(self, robot: Element, plain: PlainJoint) -> None:
        element = SubElement(robot, 'joint', {'name': plain.name, 'type': plain.type_name})
        _origin(element, plain.pose)
        SubElement(element, 'parent', {'link': plain.parent})
        SubElement(element, 'child', {'link': plain.child})
        if plain.axis is not None:
            SubElement(element, 'axis', {'xyz': written(plain.axis)})
        if plain.dof is not None:
            self._limit(element, plain)
        elif plain.made_from is not None and np.isfinite(plain.made_from.max_turn):
            SubElement(element, 'limit', {'upper': number_text(plain.made_from.max_turn)})
        rule = self._mimics.get(plain.name)
        if rule is not None:
            offset, multiplier = [*rule.coefficients, 0.0][:2]
            said = {'multiplier': number_text(multiplier), 'offset': number_text(offset)}
            SubElement(element, 'mimic', {'joint': rule.master, **said})
        if plain.made_from is not None:
            element.extend(self._carried.of_joint(plain.name))

    def _limit(self, element: Element, plain: PlainJoint) -> None:
        joint, dof = plain.made_from, plain.dof
        if joint is None or dof is None:
            return
        carried = self._carried.limit_of(plain.name)
        values = {
            'lower': float(joint.min_dof_limit[dof]),
            'upper': float(joint.max_dof_limit[dof]),
            'velocity': float(joint.max_velocity[dof]),
            'effort': float(joint.max_effort[dof]),
        }
        if plain.type_name == 'continuous':
            del values['lower'], values['upper']
            if np.isinf([*values.values()]).all() and not carried:
                return
        limit = SubElement(element, 'limit')
        unlimited = [name for name, value in values.items() if np.isinf(value)]
        for name, value in values.items():
            stand_in = -UNLIMITED if name == 'lower' else UNLIMITED
            limit.set(name, number_text(stand_in if name in unlimited else value))
        for name, text in carried.items():
            limit.set(name, text)
        if unlimited:
            limit.set('unlimited', ' '.join(unlimited))

    def _starts(self, robot: Element, start: Mapping[str, float]) -> None:
        """Write the initial joint values that differ from the default."""
        for name, (joint, dof) in self._description.values.items():
            lower, upper = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
            usual = min(max(0.0, float(lower)), float(upper))
            value = start.get(name, usual)
            if value != usual and dof not in joint.couplings:
                SubElement(robot, 'joint_start', {'joint': name, 'value': number_text(value)})

    def _motors(self, robot: Element) -> None:
        """Write which joints have a motor, unless carried elements declare the same."""
        motors = self._tree.motors()
        driven = driven_joints(self._carried.motors)
        movable = {joint.name for joint in self._description.joint_order}
        if [name for name in driven if name in movable] == motors:
            robot.extend(self._carried.motors)
            return
        if self._carried.motors:
            self._remarks.append('its ros2_control and transmissions, which declare other motors')
        if not motors:
            return
        name = f'{self._description.name}_motors'
        control = SubElement(robot, 'ros2_control', {'name': name, 'type': 'system'})
        hardware = SubElement(control, 'hardware')
        SubElement(hardware, 'plugin').text = 'mock_components/GenericSystem'
        for motor in motors:
            joint = SubElement(control, 'joint', {'name': motor})
            SubElement(joint, 'command_interface', {'name': 'position'})
            SubElement(joint, 'state_interface', {'name': 'position'})

    def _comment(self) -> str:
        source = 'objects' if not self._description.text else self._description.source
        dialect = self._description.dialect or 'a graph of objects'
        lines = [f'Converted from {dialect} ({source}) by ik_node.']
        self._remarks += [f'<{tag}>' for tag in dict.fromkeys(self._carried.left_out)]
        if self._remarks:
            lines.append('Left out: ' + ', '.join(self._remarks) + '.')
        if self._no_inertia:
            lines.append('Moments of inertia of 0 are unknown.')
        text = ' '.join(lines).replace('--', '- -').replace('--', '- -')
        return f'<!-- {FORBIDDEN.sub("?", text)} -->'


def _origin(element: Element, pose: Pose) -> None:
    values = {'xyz': pose[0], 'rpy': rpy_of(pose[1])}
    said = {name: written(numbers) for name, numbers in values.items() if np.any(numbers)}
    if said:
        SubElement(element, 'origin', said)


def _inertial(element: Element, link: Link) -> None:
    inertial = SubElement(element, 'inertial')
    if np.any(link.centre_of_mass):
        SubElement(inertial, 'origin', {'xyz': written(link.centre_of_mass)})
    SubElement(inertial, 'mass', {'value': number_text(link.mass)})
    axes = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    SubElement(inertial, 'inertia', dict.fromkeys(axes, '0'))


def _loop_joint(robot: Element, closure: Closure) -> None:
    link_a, link_b = ends_of(closure)
    element = SubElement(robot, 'loop_joint', {'name': closure.name})
    # For a set of axes without a type name; other programs read `floating` as no constraint.
    said = {'type': 'floating', **settings_of(closure, URDF_TYPES)}
    for name, value in said.items():
        numbers = value if isinstance(value, list) else [value]
        element.set(name, value if isinstance(value, str) else written(numbers))
    if not closure.enabled:
        element.set('enabled', 'false')
    frame_a = closure.offset_position, closure.offset_quaternion
    frame_b = closure.position, closure.quaternion
    for tag, link, (position, quat) in (('link1', link_a, frame_a), ('link2', link_b, frame_b)):
        end = {'link': link.name, 'xyz': written(position), 'rpy': written(rpy_of(quat))}
        SubElement(element, tag, end)
    if said['type'] in AXIAL_TYPES:
        SubElement(element, 'axis', {'xyz': '0 0 1'})


def _joint_coupling(robot: Element, rule: CouplingRule) -> None:
    element = SubElement(robot, 'joint_coupling', {'joint': rule.joint})
    for master, coefficients in rule.terms:
        into = SubElement(element, 'term') if rule.others else element
        into.set('of', master)
        into.set('coefficients', written(coefficients))


def _check_names(kind: str, names: Iterable[str]) -> None:
    for name in names:
        if not name.strip() or FORBIDDEN.search(name):
            raise TopologyError(f'{kind} {name!r}: XML does not allow this name; rename it')


def to_closures(description: Description) -> str:
    """
    Write closures, couplings that <mimic> cannot express, and motors as YAML.

    It complements the text of `to_urdf(description, loops=False)`. TopologyError is raised if a
    closure does not connect two links.
    """
    import yaml  # imported only if needed

    tree = PlainTree(description)
    _, others = tree.couplings()
    content: dict[str, Any] = {'closures': list(map(_closure, description.closures.values()))}
    if others:
        content['couplings'] = list(map(_coupling, others))
    if description.actuated:
        content['actuated'] = tree.motors()
    text = yaml.safe_dump(
        content, default_flow_style=None, width=inf, allow_unicode=True, sort_keys=False
    )
    return f'# Loops of {description.name!r}; the numbers are in metres and radians.\n{text}'


def _coupling(rule: CouplingRule) -> dict[str, Any]:
    if rule.others:
        return {'joint': rule.joint, 'of': {name: floats(c) for name, c in rule.terms}}
    return {'joint': rule.joint, 'of': rule.master, 'coefficients': floats(rule.coefficients)}


def _closure(closure: Closure) -> dict[str, Any]:
    link_a, link_b = ends_of(closure)
    return {
        'name': closure.name,
        'frame_a': _frame(link_a, closure.offset_position, closure.offset_quaternion),
        'frame_b': _frame(link_b, closure.position, closure.quaternion),
        **settings_of(closure, OWN_TYPES),
    }


def _frame(
    link: Link, position: NDArray[np.float64], quat_xyzw: NDArray[np.float64]
) -> dict[str, Any]:
    return {'link': link.name, 'xyz': floats(position), 'rpy': floats(rpy_of(quat_xyzw))}


def srdf_text(robot: str, pairs: Mapping[tuple[str, str], str]) -> str:
    """Return an SRDF that excludes pairs of links from collisions, for given reasons."""
    rows = ''.join(
        f'  <disable_collisions link1={quoteattr(a)} link2={quoteattr(b)} '
        f'reason={quoteattr(why)}/>\n'
        for (a, b), why in pairs.items()
    )
    return f'<?xml version="1.0"?>\n<robot name={quoteattr(robot)}>\n{rows}</robot>\n'

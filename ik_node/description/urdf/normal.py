"""
What urdf_parser_py drops, guesses or refuses in a URDF, put right before it reads the text.

=====================================================  ==========================================
in the wild                                            urdf_parser_py 0.0.4 without this
=====================================================  ==========================================
an undeclared prefix (`drake:mimic`)                   ParseError for the whole file
`<limit>` without effort or velocity                   ParseError
`<safety_controller>` without k_velocity               ParseError
a joint type spherical or ball                         ParseError
a robot without a name                                 ParseError
unknown elements                                       one line each on stderr
`<limit>` without lower, upper                         0, 0: the joint is frozen
`<mimic>` without multiplier, offset                   None
no `<axis>`, no `<origin>`                             None
an axis that is not a unit vector                      kept
`<origin quat_xyzw="...">` (URDF 1.1)                  the rotation is lost
two joints or links of one name                        accepted
=====================================================  ==========================================
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from xml.etree.ElementTree import Element, SubElement, tostring

from ik_node.description.joint_part import AXIS_TYPES, BALL_TYPES, LIMITED_TYPES
from ik_node.description.origin import read_quaternion
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import shown, UnsupportedElementError
from ik_node.model.rotation import unit
import numpy as np
from numpy.typing import NDArray

PARSER_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
INFINITY = float('inf')


@dataclass
class JointFacts:
    """
    What is known of a joint beyond what urdf_parser_py can carry.

    Attributes
    ----------
    element : Element
        Where it was declared.
    type_name : str
        As written.
    quat_xyzw : ndarray or None
        The origin's rotation where given as a quaternion.

    """

    element: Element
    type_name: str
    quat_xyzw: NDArray[np.float64] | None = None


def normalise(document: XmlDocument, notes: list[str]) -> tuple[str, dict[str, JointFacts]]:
    """
    Rewrite a URDF so that urdf_parser_py reads the kinematics and nothing else.

    Parameters
    ----------
    document : XmlDocument
        A parsed URDF; it is not changed.
    notes : list of str
        What was guessed is appended.

    Returns
    -------
    text : str
        A URDF with links, joints, axes, limits and mimic rules, every value written out.
    facts : dict of str to JointFacts

    Raises
    ------
    DescriptionError
        With the line of the element.

    """
    source = document.root
    name = source.get('name')
    if not name:
        notes.append('the robot has no name')
    robot = Element('robot', {'name': name or 'robot'})
    _copy_links(document, robot, notes)
    facts: dict[str, JointFacts] = {}
    for element in _joints(document):
        joint_name = document.attribute(element, 'name')
        if joint_name in facts:
            first = document.line(facts[joint_name].element)
            raise document.error(element, f'a joint of that name is declared on line {first}')
        facts[joint_name] = _copy_joint(document, element, robot, notes)
    _note_soft_limits(document, notes)
    return tostring(robot, encoding='unicode'), facts


def _joints(document: XmlDocument) -> list[Element]:
    """Return the joints of a URDF; Drake writes types that are not URDF's as <drake:joint>."""
    return [element for element in document.root if element.tag in ('joint', 'drake:joint')]


def _note_soft_limits(document: XmlDocument, notes: list[str]) -> None:
    soft = [
        element
        for element in document.root.findall('joint/safety_controller')
        if element.get('soft_lower_limit') or element.get('soft_upper_limit')
    ]
    if soft:
        notes.append(f'soft limits (<safety_controller>, {len(soft)} joints) are not used')


def _copy_links(document: XmlDocument, robot: Element, notes: list[str]) -> None:
    seen: dict[str, Element] = {}
    for element in document.root.findall('link'):
        name = document.attribute(element, 'name')
        if name in seen:
            first = document.line(seen[name])
            raise document.error(element, f'a link of that name is declared on line {first}')
        seen[name] = element
    names = list(seen)
    parents = (joint.find('parent') for joint in _joints(document))
    if 'world' not in seen and any(p is not None and p.get('link') == 'world' for p in parents):
        names.insert(0, 'world')
        notes.append('the link "world" is used but not declared; it is taken as the root')
    if not names:
        raise document.error(
            document.root, 'no <link> in it; a robot needs at least one, macros alone are none'
        )
    for name in names:
        SubElement(robot, 'link', {'name': name})


def _copy_joint(
    document: XmlDocument, element: Element, robot: Element, notes: list[str]
) -> JointFacts:
    name, type_name = element.attrib['name'], document.attribute(element, 'type')
    if type_name not in PARSER_TYPES + BALL_TYPES:
        allowed = ' '.join(PARSER_TYPES + BALL_TYPES)
        message = f'type="{type_name}" is not known; allowed: {allowed}'
        raise document.error(element, message, UnsupportedElementError)
    written = 'floating' if type_name in BALL_TYPES else type_name
    joint = SubElement(robot, 'joint', {'name': name, 'type': written})
    for tag in ('parent', 'child'):
        link = document.attribute(document.child(element, tag), 'link')
        SubElement(joint, tag, {'link': link})
    origin = element.find('origin')
    xyz = document.numbers(origin, 'xyz', (0.0, 0.0, 0.0))
    rpy = document.numbers(origin, 'rpy', (0.0, 0.0, 0.0))
    SubElement(joint, 'origin', {'xyz': _written(xyz), 'rpy': _written(rpy)})
    facts = JointFacts(element, type_name, read_quaternion(document, origin))
    if type_name in AXIS_TYPES:
        SubElement(joint, 'axis', {'xyz': _written(_axis(document, element, notes))})
        _copy_limit(document, element, joint, notes)
        _copy_mimic(document, element, joint)
    elif element.find('mimic') is not None and type_name == 'fixed':
        notes.append(f'joint {shown(name)}: it is fixed, its <mimic> is ignored')
    return facts


def _axis(document: XmlDocument, element: Element, notes: list[str]) -> list[float]:
    axis = element.find('axis')
    drake_plane = element.tag == 'drake:joint' and element.get('type') == 'planar'
    default = (0.0, 0.0, 1.0) if drake_plane else (1.0, 0.0, 0.0)
    xyz = document.numbers(axis, 'xyz', default)
    if axis is None and not drake_plane:
        notes.append(f'joint {shown(element.get("name"))}: no <axis>, taken as 1 0 0')
    elif axis is not None and max(map(abs, xyz)) < 1e-12:
        raise document.error(
            element, f'the axis xyz="{axis.get("xyz")}" has no direction; a joint needs one'
        )
    return [float(value) for value in unit(xyz)]


def _copy_limit(document: XmlDocument, element: Element, joint: Element, notes: list[str]) -> None:
    name, type_name, limit = element.get('name'), element.get('type'), element.find('limit')
    lower = document.numbers(limit, 'lower', (-INFINITY,), infinite=True)[0]
    upper = document.numbers(limit, 'upper', (INFINITY,), infinite=True)[0]
    velocity = document.numbers(limit, 'velocity', (INFINITY,), infinite=True)[0]
    if limit is None and type_name in LIMITED_TYPES:
        notes.append(f'joint {shown(name)}: no <limit>, taken as unlimited')
    if type_name not in LIMITED_TYPES:
        lower, upper = -INFINITY, INFINITY  # a continuous joint has no ends, whatever is written
    lower = -INFINITY if isinf(lower) else lower
    upper = INFINITY if isinf(upper) else upper
    if lower > upper and limit is not None:
        raise document.error(element, f'lower="{lower:g}" is above upper="{upper:g}"')
    if lower == upper:
        notes.append(f'joint {shown(name)}: lower and upper are both {lower:g}, it cannot move')
    if velocity <= 0.0:
        notes.append(f'joint {shown(name)}: velocity="{velocity:g}", taken as unlimited')
        velocity = INFINITY
    limits = {'lower': lower, 'upper': upper, 'velocity': velocity, 'effort': 0.0}
    SubElement(joint, 'limit', {key: repr(value) for key, value in limits.items()})


def _copy_mimic(document: XmlDocument, element: Element, joint: Element) -> None:
    mimic = element.find('mimic')
    if mimic is None:
        return
    multiplier = document.numbers(mimic, 'multiplier', (1.0,))
    offset = document.numbers(mimic, 'offset', (0.0,))
    master = document.attribute(mimic, 'joint')
    values = {'joint': master, 'multiplier': _written(multiplier), 'offset': _written(offset)}
    SubElement(joint, 'mimic', values)


def _written(numbers: list[float]) -> str:
    return ' '.join(map(repr, numbers))

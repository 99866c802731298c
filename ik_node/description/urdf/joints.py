"""Readers of the links and joints of a URDF."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ik_node.description.joint_spec import AXIS_TYPES, BALL_TYPES, JointSpec, LIMITED_TYPES
from ik_node.description.limits import limit_text, NAMES, read_limits
from ik_node.description.origin import read_origin
from ik_node.description.xml_document import XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.rotation import unit
import numpy as np
from numpy.typing import NDArray

TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar', *BALL_TYPES)


def link_names(document: XmlDocument, notes: list[str]) -> list[str]:
    """
    Return the names of the links; an undeclared link "world" comes first if a joint uses it.

    Raises
    ------
    DescriptionError
        With line, if a name is missing or occurs twice, or there is no link.

    """
    seen: dict[str, Element] = {}
    for element in document.root.findall('link'):
        name = document.attribute(element, 'name')
        if name in seen:
            first = document.line(seen[name])
            raise document.error(element, f'a link of that name is declared on line {first}')
        seen[name] = element
    names = list(seen)
    parents = (joint.find('parent') for joint in joint_elements(document))
    if 'world' not in seen and any(p is not None and p.get('link') == 'world' for p in parents):
        names.insert(0, 'world')
        notes.append('the link "world" is used but not declared; it is taken as the root')
    if not names:
        raise document.error(
            document.root, 'no <link> in it; a robot needs at least one link, not only macros'
        )
    return names


def joint_elements(document: XmlDocument) -> Iterator[Element]:
    """Yield the joints, including <drake:joint> for types that URDF does not have."""
    return (element for element in document.root if element.tag in ('joint', 'drake:joint'))


def read_joint(document: XmlDocument, element: Element, notes: list[str]) -> JointSpec:
    """
    Read a joint; guesses are appended to the notes.

    Raises
    ------
    DescriptionError
        With line, if an attribute is missing, a number is not valid, or the type is unknown.

    """
    name, type_name = document.attribute(element, 'name'), document.attribute(element, 'type')
    if type_name not in TYPES:
        message = f'type="{type_name}" is not known; allowed: {" ".join(TYPES)}'
        raise document.error(element, message, UnsupportedElementError)
    parent, child = (
        document.attribute(document.child(element, tag), 'link') for tag in ('parent', 'child')
    )
    spec = JointSpec(name, type_name, parent, child, line=document.line(element))
    spec.position, spec.quat_xyzw = read_origin(document, element.find('origin'))
    if type_name in AXIS_TYPES:
        spec.axis = _axis(document, element, notes)
    elif type_name == 'fixed' and element.find('mimic') is not None:
        notes.append(f'joint {name!r}: it is fixed, its <mimic> is ignored')
    if type_name != 'fixed':
        _read_limit(document, element, spec, notes)
    return spec


def _axis(document: XmlDocument, element: Element, notes: list[str]) -> NDArray[np.float64]:
    axis = element.find('axis')
    drake_plane = element.tag == 'drake:joint' and element.get('type') == 'planar'
    default = (0.0, 0.0, 1.0) if drake_plane else (1.0, 0.0, 0.0)
    xyz = document.numbers(axis, 'xyz', default)
    if axis is None and not drake_plane:
        notes.append(f'joint {element.get("name")!r}: no <axis>, taken as 1 0 0')
    elif axis is not None and max(map(abs, xyz)) < 1e-12:
        raise document.error(
            element, f'the axis xyz="{axis.get("xyz")}" has no direction; a joint needs one'
        )
    return unit(xyz)


def _read_limit(
    document: XmlDocument, element: Element, spec: JointSpec, notes: list[str]
) -> None:
    limit, what = element.find('limit'), f'joint {spec.name!r}'
    only_upper = limit_text(limit, 'lower') is None and limit_text(limit, 'upper') is not None
    if spec.type_name in BALL_TYPES and only_upper:
        upper = read_limits(document, element, limit, what, notes).upper
        if upper >= 0.0:
            spec.upper = upper
            return
    if spec.type_name not in (*LIMITED_TYPES, 'continuous'):
        if limit is not None:
            notes.append(
                f'{what}: it is {spec.type_name}, so its <limit> is not used and its values have '
                'no limits'
            )
        return
    missing = [name for name in NAMES[:2] if limit_text(limit, name) is None]
    if missing and spec.type_name in LIMITED_TYPES:
        lacks = 'no <limit>' if limit is None else f'its <limit> has no {" and no ".join(missing)}'
        where = '' if len(missing) == 2 else ' on that side'
        notes.append(f'{what}: {lacks}, taken as unlimited{where}')
    found = read_limits(
        document, element, limit, what, notes, turns_freely=spec.type_name == 'continuous'
    )
    spec.lower, spec.upper = found.lower, found.upper
    spec.velocity, spec.effort = found.velocity, found.effort

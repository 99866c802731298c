"""Elements of a source URDF that are carried over when a robot is written."""

from __future__ import annotations

from copy import deepcopy
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Source
from ik_node.description.loops.loop_frames import LOOP_ELEMENTS
from ik_node.description.sdf.detachable import is_detachable, welds_own_links
from ik_node.description.xml_document import parse_xml
from ik_node.errors import DescriptionError
from ik_node.model.link import Link

# Elements that the writer writes itself.
WRITTEN_TAGS = ('link', 'joint', 'loop_joint', 'joint_coupling', 'joint_start', 'closing_frames')
OWN_JOINT_TAGS = ('origin', 'parent', 'child', 'axis', 'limit', 'mimic')
OWN_LIMITS = ('lower', 'upper', 'velocity', 'effort', 'unlimited')
MOTOR_TAGS = ('ros2_control', 'transmission')


class Carried:
    """
    The elements of a source URDF that are carried over: shapes, inertia, materials.

    It is empty for a robot that was not read from a URDF.

    Parameters
    ----------
    description : Description

    Attributes
    ----------
    attributes : dict of str to str
        Attributes of the root element.
    tops : list of Element
        Children of the root element: materials, gazebo, transmissions and so on.
    motors : list of Element
        Children of the root element that declare motors.
    left_out : list of str
        Tags of children of the root element that are not carried over.

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
        found = {} if limit is None else limit.attrib
        return {key: value for key, value in found.items() if key not in OWN_LIMITS}

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
    try:
        centre = [float(part) for part in xyz.split()]
        same = float(mass.get('value', '')) == link.mass
    except ValueError:
        return False
    return same and centre == link.centre_of_mass.tolist()

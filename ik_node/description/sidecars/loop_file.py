"""Base of the readers of loop files that other programs write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from ik_node.description.description import Description, Loop, LoopSet, unknown
from ik_node.description.xml_document import XmlDocument
from ik_node.description.yaml_document import Checked
from ik_node.errors import shown

AXES = {'X': '1 0 0', 'Y': '0 1 0', 'Z': '0 0 1'}
LOST = ('axis', 'limit', 'calibration', 'safety_controller')


class Retype:
    """A document whose joints get other types; `notes` says which elements were removed."""

    def __init__(self, document: XmlDocument, what: str) -> None:
        self.notes: list[str] = []
        self._document = document
        self._what = what
        self._joints = {joint.get('name', ''): joint for joint in document.root.findall('joint')}
        self._retyped: set[str] = set()
        self._after: dict[Element, list[Element]] = {}
        self._names = {
            (element.tag, element.get('name'))
            for element in document.root
            if element.tag in ('joint', 'link')
        }

    def refused(self) -> str | None:
        """Return why joints cannot be retyped; None if they can."""
        root = self._document.root
        if root.tag == 'robot':
            return None
        return f'{self._what} is for the joints of a URDF <robot>; this is a <{root.tag}>'

    def unknown(self, name: str) -> str | None:
        """Return a message if there is no joint of a name; None if there is one."""
        if name in self._joints:
            return None
        return f'{self._what}: {unknown("joint", name, list(self._joints))}'

    def ball(self, name: str) -> None:
        """Make a joint spherical."""
        self._strip(name).set('type', 'spherical')

    def fixed(self, name: str) -> None:
        """Fix a joint at 0."""
        self._strip(name).set('type', 'fixed')

    def universal(self, name: str, first: str, second: str) -> str | None:
        """
        Replace a joint by two: NAME_A about the first axis and NAME_B about the second.

        A and B are the names of the axes. The new link between the two joints is NAME_A as well.
        Return why this is not possible; None if it was done.
        """
        new = [f'{name}_{axis}' for axis in (first, second)]
        taken = [each for each in new if ('joint', each) in self._names]
        if taken:
            return (
                f'{self._what}: {name!r} becomes {new[0]!r} and {new[1]!r}; {taken[0]!r} is taken'
            )
        between = new[0]
        while ('link', between) in self._names:
            between += '_'
        self._names |= {('link', between), *(('joint', each) for each in new)}
        joint = self._strip(name)
        outer = Element('joint', {'name': new[1], 'type': 'continuous'})
        SubElement(outer, 'parent', {'link': between})
        outer.extend(_taken(joint, 'child'))
        SubElement(outer, 'axis', {'xyz': AXES[second]})
        joint.attrib.update(name=new[0], type='continuous')
        SubElement(joint, 'child', {'link': between})
        SubElement(joint, 'axis', {'xyz': AXES[first]})
        self._after[joint] = [Element('link', {'name': between}), outer]
        return None

    def finish(self) -> None:
        """Insert the new joints, and remove mimics of retyped joints."""
        for name, joint in self._joints.items():
            mimic = joint.find('mimic')
            if mimic is not None and mimic.get('joint') in self._retyped:
                self._lose_mimic(name, joint, f'the type of {mimic.get("joint")!r}')
        root = self._document.root
        if self._after:
            root[:] = [new for each in root for new in (each, *self._after.pop(each, ()))]

    def _strip(self, name: str) -> Element:
        """Remove the elements that describe the joint's motion, and return the joint."""
        joint = self._joints[name]
        self._retyped.add(name)
        if joint.find('mimic') is not None:
            self._lose_mimic(name, joint, 'its type')
        taken = [each for tag in LOST for each in _taken(joint, tag)]
        if any(each.tag == 'limit' and {'lower', 'upper'} & set(each.keys()) for each in taken):
            self.notes.append(
                f'joint {name!r}: its limits are removed, as {self._what} changes its type'
            )
        return joint

    def _lose_mimic(self, name: str, joint: Element, what: str) -> None:
        _taken(joint, 'mimic')
        self.notes.append(
            f'joint {name!r}: its <mimic> is removed, as {self._what} changes {what}'
        )


def _taken(element: Element, tag: str) -> Iterable[Element]:
    """Remove and return the children with a given tag."""
    result = element.findall(tag)
    for child in result:
        element.remove(child)
    return result


def _as_it_is(document: XmlDocument) -> None:
    """Leave the document unchanged."""


@dataclass
class Sidecar:
    """The content of a loop file."""

    # Returns the declared loops, given a description whose links and joints are read
    loop_set: Callable[[Description], LoopSet]
    # Changes the parsed description before it is read, if the file changes joint types
    rewrite: Callable[[XmlDocument], None] = _as_it_is
    # The two names that each loop connects; in some formats they are names of joints
    ends: tuple[tuple[str, str], ...] = ()


class LoopFile(Checked, ABC):
    """A reader of loops, motors and joint types, which are matched with the robot later."""

    dialect: str  # Name of the format, for the log
    top_keys: tuple[str, ...]  # The known keys; others are noted
    motor_keys: tuple[str, ...]  # The keys that list joints with motors
    retype_key: str  # The key that lists joints with a new type

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.loops: list[Loop] = []
        self.notes: list[str] = []
        self._motors: dict[str, list[str]] = {}

    def read(self, content: object) -> Sidecar:
        """Read the parsed YAML."""
        top = self.mapping(content, 'the file', self.top_keys, others=True)
        for key in top:
            if key not in self.top_keys:
                self.notes.append(f'{self.source}: the key {shown(key)} is not read')
        self.read_loops(top)
        for key in self.motor_keys:
            if top.get(key) is not None:
                self._motors[key] = self.names(top, key)
        self.read_types(top)
        return Sidecar(self._loop_set, self._rewrite, tuple(loop.ends for loop in self.loops))

    @abstractmethod
    def read_loops(self, top: Mapping[str, Any]) -> None:
        """Read the loops and append them to `loops`."""

    @abstractmethod
    def read_types(self, top: Mapping[str, Any]) -> None:
        """Read which joints get which type."""

    @abstractmethod
    def retype(self, joints: Retype) -> None:
        """Change the types of the joints in the document."""

    @abstractmethod
    def fit_to(self, description: Description) -> None:
        """Match `loops` with the robot's links, and remove couplings that they replace."""

    def refuse(self, problem: str | None) -> None:
        """Raise DescriptionError if there is a problem."""
        if problem is not None:
            raise self.fail(problem)

    def _rewrite(self, document: XmlDocument) -> None:
        joints = Retype(document, self.retype_key)
        self.retype(joints)
        joints.finish()
        self.notes += joints.notes

    def _loop_set(self, description: Description) -> LoopSet:
        self.fit_to(description)
        self._name_apart(description)
        result = LoopSet(self.source, self.dialect, self.loops, notes=self.notes)
        for key, names in self._motors.items():
            motors = [name for name in names if self._is_motor(name, key, description)]
            result.actuated = list(dict.fromkeys([*(result.actuated or []), *motors]))
        return result

    def _name_apart(self, description: Description) -> None:
        """Append a number to the name of a loop if it is taken; these files allow equal names."""
        declared = (loop.name for loop_set in description.loops for loop in loop_set.loops)
        taken = {*description.closures, *declared}
        counts: dict[str, int] = {}
        for loop in self.loops:
            name = loop.name
            while loop.name in taken:
                counts[name] = counts.get(name, 1) + 1
                loop.name = f'{name}_{counts[name]}'
            taken.add(loop.name)

    def _is_motor(self, name: str, key: str, description: Description) -> bool:
        """
        Return True if a name is that of a movable joint; otherwise add a note.

        The programs that write these files ignore such names, too, because joints may be fixed or
        merged after the file was written.
        """
        joint = description.joints.get(name)
        if joint is not None and joint.dof:
            return True
        why = 'there is no such joint' if joint is None else 'it is fixed'
        description.notes.append(f'{self.source}: {key}: {name!r} has no motor, as {why}')
        return False

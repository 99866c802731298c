"""Base of the readers of loop files that other programs write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from ik_node.description.description import (
    Description,
    free_name,
    Loop,
    LoopSet,
    Names,
    unknown,
    WORLD,
)
from ik_node.description.xml_document import XmlDocument
from ik_node.description.yaml_document import Checked
from ik_node.errors import shown

AXES = {'X': '1 0 0', 'Y': '0 1 0', 'Z': '0 0 1'}
LOST = ('axis', 'limit', 'calibration', 'safety_controller')


class Retype:
    """A document whose joints get other types; the notes say which elements were removed."""

    def __init__(self, document: XmlDocument, file: LoopFile) -> None:
        root = document.root
        self._root = root
        self._file = file
        self._what = file.retype_key
        self.joints = {joint.get('name', ''): joint for joint in root.findall('joint')}
        self._retyped: set[str] = set()
        self._after: dict[Element, list[Element]] = {}
        self._names = {(element.tag, element.get('name')) for element in root}

    @property
    def is_urdf(self) -> bool:
        """Return True if joints can be retyped."""
        return self._root.tag == 'robot'

    def find(self, name: str) -> Element:
        """Return the joint of a name, without the elements that describe its motion."""
        if not self.is_urdf:
            raise self._file.fail(
                f'{self._what} is for the joints of a URDF <robot>; this is a <{self._root.tag}>'
            )
        if name not in self.joints:
            message = unknown('joint', name, list(self.joints))
            raise self._file.fail(f'{self._what}: {message}')
        joint = self.joints[name]
        self._retyped.add(name)
        if joint.find('mimic') is not None:
            self._lose_mimic(name, joint, 'its type')
        taken = [each for tag in LOST for each in _taken(joint, tag)]
        if any(each.tag == 'limit' and {'lower', 'upper'} & set(each.keys()) for each in taken):
            self._file.note(
                f'joint {name!r}: its limits are removed, as {self._what} changes its type', False
            )
        return joint

    def universal(self, name: str, first: str, second: str) -> None:
        """
        Replace a joint by two: NAME_A about the first axis and NAME_B about the second.

        A and B are the names of the axes. The new link between the two joints is NAME_A as well.
        """
        new = [f'{name}_{axis}' for axis in (first, second)]
        taken = [each for each in new if ('joint', each) in self._names]
        if taken:
            raise self._file.fail(
                f'{self._what}: {name!r} becomes {new[0]!r} and {new[1]!r}; {taken[0]!r} is taken'
            )
        links = {link for tag, link in self._names if tag == 'link' and link}
        between = free_name(new[0], links)
        self._names |= {('link', between), *(('joint', each) for each in new)}
        joint = self.find(name)
        outer = Element('joint', {'name': new[1], 'type': 'continuous'})
        SubElement(outer, 'parent', {'link': between})
        outer.extend(_taken(joint, 'child'))
        SubElement(outer, 'axis', {'xyz': AXES[second]})
        joint.attrib.update(name=new[0], type='continuous')
        SubElement(joint, 'child', {'link': between})
        SubElement(joint, 'axis', {'xyz': AXES[first]})
        self._after[joint] = [Element('link', {'name': between}), outer]

    def finish(self) -> None:
        """Insert the new joints, and remove mimics of retyped joints."""
        for name, joint in self.joints.items():
            mimic = joint.find('mimic')
            if mimic is not None and mimic.get('joint') in self._retyped:
                self._lose_mimic(name, joint, f'the type of {mimic.get("joint")!r}')
        if self._after:
            root = self._root
            root[:] = [new for each in root for new in (each, *self._after.pop(each, ()))]

    def _lose_mimic(self, name: str, joint: Element, what: str) -> None:
        _taken(joint, 'mimic')
        self._file.note(
            f'joint {name!r}: its <mimic> is removed, as {self._what} changes {what}', False
        )


def _taken(element: Element, tag: str) -> Iterable[Element]:
    """Remove and return the children with a given tag."""
    result = element.findall(tag)
    for child in result:
        element.remove(child)
    return result


class Sidecar:
    """The content of a file of loops; here, of loops that are read without the robot."""

    def __init__(self, loop_set: LoopSet) -> None:
        self._loop_set = loop_set

    def rewrite(self, document: XmlDocument) -> None:
        """Change the parsed description before it is read, if the file changes joint types."""

    def loop_set(self, description: Description) -> LoopSet:
        """Return the declared loops, given a description whose links and joints are read."""
        return self._loop_set


class LoopFile(Checked, Sidecar, ABC):
    """A reader of loops, motors and joint types, which are matched with the robot later."""

    dialect: str  # Name of the format, for the log
    top_keys: tuple[str, ...]  # The known keys; others are noted
    motor_keys: tuple[str, ...] = ()  # The keys that list joints with motors
    retype_key: str  # The key that lists joints with a new type

    def __init__(self, content: object, source: str, *, must_fit: bool = False) -> None:
        """
        Read the parsed YAML.

        If it `must_fit`, it is used only if it connects links or joints of the description.
        """
        super().__init__(source)
        self.loops: list[Loop] = []
        self.motors: dict[str, list[str]] = {}
        self._notes: list[str] = []
        top = self.mapping(content, 'the file', self.top_keys, others=True)
        for key in top:
            if key not in self.top_keys:
                self.note(f'the key {shown(key)} is not read')
        self._read_loops(top)
        for key in self.motor_keys:
            if top.get(key) is not None:
                self.motors[key] = self.names(top, key)
        self._read_types(top)
        self._ends = [loop.ends for loop in self.loops]
        self._fits = not must_fit or not self._ends

    def note(self, text: str, named: bool = True) -> None:
        """Add a note, which names the file if `named`."""
        self._notes.append(f'{self.source}: {text}' if named else text)

    @abstractmethod
    def _read_loops(self, top: Mapping[str, Any]) -> None:
        """Read the loops and append them to `loops`."""

    @abstractmethod
    def _read_types(self, top: Mapping[str, Any]) -> None:
        """Read which joints get which type."""

    @abstractmethod
    def _retype(self, joints: Retype) -> None:
        """Change the types of the joints in the document."""

    @abstractmethod
    def _fit_to(self, description: Description) -> None:
        """Match `loops` with the robot's links, and remove couplings that they replace."""

    def rewrite(self, document: XmlDocument) -> None:
        """Change the types of joints in the parsed description."""
        named = (each for each in document.root.iter() if each.tag in ('link', 'joint', 'body'))
        known = {WORLD, *(each.get('name') for each in named)}
        self._fits = self._fits or any(known.issuperset(pair) for pair in self._ends)
        if self._fits:
            joints = Retype(document, self)
            self._retype(joints)
            joints.finish()

    def loop_set(self, description: Description) -> LoopSet:
        """Return the loops, with other names if theirs are taken, and the motors."""
        if not self._fits:
            description.notes.append(
                f'{self.source}: it is not used, as none of its loops connects two links of this '
                'robot'
            )
            return LoopSet(self.source)
        self._fit_to(description)
        declared = (loop.name for loop_set in description.loops for loop in loop_set.loops)
        names = Names([*description.closures, *declared])
        for loop in self.loops:
            loop.name = names.unique(loop.name)
        result = LoopSet(self.source, self.dialect, self.loops, notes=self._notes)
        for key, motors in self.motors.items():
            known = [name for name in motors if self._is_motor(name, key, description)]
            result.actuated = list(dict.fromkeys([*(result.actuated or []), *known]))
        return result

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

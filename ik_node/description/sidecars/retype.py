"""Changes of joint types in a parsed URDF before it is read."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from ik_node.description.unknown_name import unknown
from ik_node.description.xml_document import XmlDocument

AXES = {'X': '1 0 0', 'Y': '0 1 0', 'Z': '0 0 1'}
LOST = ('axis', 'limit', 'calibration', 'safety_controller')


class Retype:
    """
    A document whose joints get other types; their origins and links stay.

    Parameters
    ----------
    document : XmlDocument
    what : str
        Source of the joint names, for messages.

    Attributes
    ----------
    notes : list of str
        Elements that were removed.

    """

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

        Returns
        -------
        str or None
            Why this is not possible; None if it was done.

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
    found = element.findall(tag)
    for child in found:
        element.remove(child)
    return found

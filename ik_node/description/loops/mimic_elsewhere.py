"""
Reader of mimic rules outside <mimic>, written for simulators that ignore <mimic>.

::

    <gazebo><plugin name="..." filename="libroboticsgroup_gazebo_mimic_joint_plugin.so">
      <joint>leader</joint> <mimicJoint>follower</mimicJoint>
      <multiplier>1</multiplier> <offset>0</offset>
    </plugin></gazebo>

    <ros2_control name="..." type="system"><joint name="follower">
      <param name="mimic">leader</param> <param name="multiplier">1</param>
    </joint></ros2_control>
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import re
from xml.etree.ElementTree import Element

from ik_node.description.description import CouplingRule, Description, LoopSet
from ik_node.description.loops.loop_frames import LOOP_ELEMENTS
from ik_node.description.sums import leads
from ik_node.description.unknown_name import quoted
from ik_node.description.xml_document import XmlDocument

WORDS = ('loop', 'closure', 'constraint', 'coupling', 'equality')
OLD_NAMES = re.compile(r'.*(fermeture|closed_?loop).*', re.IGNORECASE)


def note_unread(document: XmlDocument, description: Description) -> LoopSet:
    """Note elements whose tags suggest loops, but which no reader of a URDF knows."""
    tags = Counter(str(element.tag) for element in document.root)
    for tag, count in tags.items():
        plain = tag.lower()
        if plain in LOOP_ELEMENTS or plain.startswith('drake:'):
            continue
        if any(word in plain for word in WORDS):
            description.notes.append(f'<{tag}> is not read ({count} of them)')
    return LoopSet(document.source)


def note_unnamed_pairs(description: Description) -> None:
    """
    Note links that close loops by their names if no source declares the loops.

    Models of Gepetto's example-parallel-robots declare them in a `robot.yaml` beside the URDF.
    """
    names = [name for name in description.links if OLD_NAMES.fullmatch(name)]
    if names and not description.closures:
        description.notes.append(
            f'links {quoted(names, 6)} look like ends of loops, but no source declares the pairs: '
            'put the robot.yaml of the model beside its URDF, or give a closures file with one '
            'closure per pair'
        )


def read_mimic_elsewhere(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read Gazebo plugins and ros2_control parameters that make one joint follow another.

    URDF's own <mimic> takes precedence. A plugin that closes loops is named in a note.

    Raises
    ------
    DescriptionError
        If a multiplier or an offset is not a number.

    """
    found = LoopSet(document.source)
    following = {
        joint.name: {term.master.name for each in joint.couplings.values() for term in each.terms}
        for joint in description.joint_order
        if joint.couplings
    }
    for loop_set in description.loops:
        for rule in loop_set.couplings:
            following.setdefault(rule.joint, set()).update(name for name, _ in rule.terms)
    for rule in (*_of_plugins(document, description), *_of_parameters(document)):
        reason = _reason_for_refusal(rule, description, following)
        if reason is None:
            found.couplings.append(rule)
            following[rule.joint] = {rule.master}
        elif reason:
            description.notes.append(f'the mimic rule of {rule.joint!r} is not read: {reason}')
    if found.couplings:
        found.dialect = 'mimic rules for simulators'
    return found


def _of_plugins(document: XmlDocument, description: Description) -> Iterator[CouplingRule]:
    for plugin in document.root.iter('plugin'):
        if plugin.find('mimicJoint') is not None:
            leader = (plugin.findtext('joint') or '').strip()
            follower = (plugin.findtext('mimicJoint') or '').strip()
            multiplier = document.text_numbers(plugin.find('multiplier'), (1.0,))
            offset = document.text_numbers(plugin.find('offset'), (0.0,))
            yield CouplingRule(follower, leader, offset + multiplier, document.line(plugin))
        elif 'closed_loop' in plugin.get('filename', ''):
            description.notes.append(
                f'gazebo plugin {plugin.get("filename")!r} closes a loop and is not read; '
                'declare the loop with <loop_joint> or in a closures file'
            )


def _of_parameters(document: XmlDocument) -> Iterator[CouplingRule]:
    for joint in document.root.findall('ros2_control/joint'):
        given: dict[str, Element] = {
            parameter.get('name', ''): parameter for parameter in joint.findall('param')
        }
        if 'mimic' not in given:
            continue
        leader = (given['mimic'].text or '').strip()
        multiplier = document.text_numbers(given.get('multiplier'), (1.0,))
        offset = document.text_numbers(given.get('offset'), (0.0,))
        line = document.line(joint)
        yield CouplingRule(joint.get('name', ''), leader, offset + multiplier, line)


def _reason_for_refusal(
    rule: CouplingRule, description: Description, following: dict[str, set[str]]
) -> str | None:
    """Return None if a rule can be used, '' if it is already known, else the reason why not."""
    if rule.master in following.get(rule.joint, ()) or rule.joint in following.get(
        rule.master, ()
    ):
        return ''
    if rule.joint in following:
        return 'that joint follows another already'
    for name in (rule.master, rule.joint):
        joint = description.joints.get(name)
        if joint is None or len(joint.dof) != 1:
            return f'there is no joint {name!r} of one DoF'
    if leads(rule.joint, rule.master, following):
        return f'{rule.master!r} follows that joint'
    return None

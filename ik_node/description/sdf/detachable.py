"""
Reader of Gazebo Sim's DetachableJoint, a plugin that welds two links at the start.

::

    <plugin filename="gz-sim-detachable-joint-system" name="gz::sim::systems::DetachableJoint">
      <parent_link>rod_end</parent_link> <child_model>__model__</child_model>
      <child_link>platform</child_link> <initial_attach>true</initial_attach>
    </plugin>

People close loops with it, because a joint of a model must not. In a URDF the plugin is an element
of <gazebo>. The weld holds the links as the file has them, with all joints at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet
from ik_node.description.loops.loop_frames import LoopNames
from ik_node.description.sdf.frame_graph import FrameGraph
from ik_node.description.sdf.scope import SdfFrame, SdfScope
from ik_node.description.tree import poses_at_zero
from ik_node.description.unknown_name import unknown
from ik_node.description.xml_document import XmlDocument
from ik_node.model.rotation import pose_inverse, pose_parts
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

OWN_MODEL = '__model__'
UNNAMED = '::'  # no frame has this name


def is_detachable(plugin: Element) -> bool:
    """Return True if a plugin is Gazebo Sim's DetachableJoint."""
    words = f'{plugin.get("name", "")} {plugin.get("filename", "")}'.lower()
    return 'detachablejoint' in words.replace('-', '').replace('_', '')


def read_detachable_joints(document: XmlDocument, description: Description) -> LoopSet:
    """Read every DetachableJoint in the <gazebo> elements of a URDF that welds two own links."""
    reader = _Reader(document, description)
    poses: dict[str, Array] = {}
    for plugin in filter(is_detachable, document.root.findall('gazebo/plugin')):
        poses = poses or poses_at_zero(description)
        if welds_own_links(plugin, description.name):
            ends = [reader.known(plugin, tag, description.links) for tag in TAGS]
            reader.add(plugin, ends, poses)
        else:
            reader.note_other(plugin)
    return reader.found


def read_detachable_joints_of_models(
    document: XmlDocument, graph: FrameGraph, scopes: Iterable[SdfScope], description: Description
) -> LoopSet:
    """Read every DetachableJoint of an SDFormat file that welds two links of the robot."""
    reader = _Reader(document, description)
    for scope in scopes:
        for plugin in filter(is_detachable, scope.frame.element.findall('plugin')):
            model = _child_model(scope, plugin)
            if model is None:
                reader.note_other(plugin)
                continue
            ends, poses = [], {}
            for tag, around in zip(TAGS, (scope, model), strict=True):
                frame = around.find(plugin.findtext(tag, '').strip() or UNNAMED)
                if frame is None:
                    ends.append(reader.known(plugin, tag, around.frames))
                    continue
                link = graph.link(frame)
                ends.append(link.link_name)
                poses[link.link_name] = graph.pose(link)
            reader.add(plugin, ends, poses)
    return reader.found


TAGS = ('parent_link', 'child_link')


def welds_own_links(plugin: Element, robot: str) -> bool:
    """Return True if the child of a DetachableJoint is a link of the robot itself."""
    return plugin.findtext('child_model', '').strip() in (OWN_MODEL, robot)


def _child_model(scope: SdfScope, plugin: Element) -> SdfScope | None:
    """Return the model of the child link; None if it is not part of the robot."""
    name = plugin.findtext('child_model', '').strip()
    if name in (OWN_MODEL, scope.frame.element.get('name')):
        return scope
    frames: list[SdfFrame | None] = [scope.find(name)] if name else []
    outer = scope.world.inner
    if outer is not None and name:
        frames.append(outer.find(name))
    return next((frame.inner for frame in frames if frame is not None and frame.inner), None)


class _Reader:
    """A reader that makes a loop of each plugin."""

    def __init__(self, document: XmlDocument, description: Description) -> None:
        self.found = LoopSet(document.source)
        self._document = document
        self._description = description
        self._names = LoopNames(document, description)

    def known(self, plugin: Element, tag: str, names: Mapping[str, object]) -> str | None:
        """Return the name in an element of the plugin; None with a note if it is unknown."""
        name = plugin.findtext(tag, '').strip()
        if name in names:
            return name
        self._note(plugin, f'<{tag}>: {unknown("link", name, list(names))}')
        return None

    def add(self, plugin: Element, ends: list[str | None], poses: Mapping[str, Array]) -> None:
        """Add the weld of a child link to a parent link, given their poses in the file."""
        parent, child = ends
        if parent is None or child is None:
            return
        if parent == child:
            self._note(plugin, f'it connects the link {parent!r} to itself')
            return
        pose = pose_parts(pose_inverse(poses[parent]) @ poses[child])
        loop = Loop(
            self._names.new('detachable_joint'), LoopFrame(child), LoopFrame(parent, *pose)
        )
        loop.line = self._document.line(plugin)
        loop.enabled = plugin.findtext('initial_attach', 'true').strip().lower() in ('true', '1')
        if not loop.enabled:
            self._description.notes.append(
                f'DetachableJoint {loop.name!r} is not attached at the start; it is a '
                'disabled closure'
            )
        self.found.loops.append(loop)
        self.found.dialect = 'DetachableJoint'

    def note_other(self, plugin: Element) -> None:
        """Note that a plugin holds another model."""
        model = plugin.findtext('child_model', '').strip()
        self._note(
            plugin,
            f'its child_model {model!r} is not part of this robot; for a loop of the robot '
            f'itself write {OWN_MODEL}',
        )

    def _note(self, plugin: Element, why: str) -> None:
        line = self._document.line(plugin)
        self._description.notes.append(f'DetachableJoint on line {line} is not read: {why}')

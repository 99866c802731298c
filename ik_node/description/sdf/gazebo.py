"""
Readers of loops for Gazebo: <gazebo><joint> in a URDF, and the plugin DetachableJoint.

<gazebo><joint> is an SDFormat joint that Gazebo adds after it has converted a URDF. Its frames are
those of the configuration in which all joints are 0.

DetachableJoint of Gazebo Sim welds two links at the start::

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

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet, unknown, WORLD
from ik_node.description.joint_spec import JointSpec, read_limits
from ik_node.description.loops.loop_frames import LoopNames, read_type, turn_frame, X, Y
from ik_node.description.sdf.frames import FrameGraph, read_pose, SdfFrame, SdfScope
from ik_node.description.sdf.joints import TWO_AXES
from ik_node.description.tree import add_joint, poses_at_zero
from ik_node.description.xml_document import is_true, XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.link import Link
from ik_node.model.rotation import pose_inverse, pose_parts, unit
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TYPES = ('revolute', 'continuous', 'prismatic', 'ball', 'fixed', *TWO_AXES, 'gearbox')


def read_gazebo_joints(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read every <gazebo><joint>.

    A joint whose child is the root of a separate tree becomes a joint of the robot. Every other
    one closes a loop and becomes a closure; one with limits becomes a joint and a weld.
    """
    reader = _JointReader(document, description)
    for gazebo in document.root.findall('gazebo'):
        for element in gazebo.findall('joint'):
            reader.read(element)
    return reader.result


class _JointReader:
    """A reader that adds joints to a description."""

    def __init__(self, document: XmlDocument, description: Description) -> None:
        self.result = LoopSet(document.source)
        self._document = document
        self._description = description
        self._names = LoopNames(document, description)
        self._poses: dict[str, Array] | None = None

    def read(self, element: Element) -> None:
        """Read one joint."""
        document, description = self._document, self._description
        type_name = read_type(document, element, TYPES)
        if type_name == 'gearbox':
            ratio = element.findtext('gearbox_ratio', '1').strip()
            description.notes.append(
                f'gazebo joint {element.get("name", "")!r}: a gearbox (ratio {ratio[:30]}) '
                'is not read; declare it in a closures file: couplings: [{joint: ..., of: ..., '
                'coefficients: [0, -ratio]}]'
            )
            return
        parent, child = self._link(element, 'parent'), self._link(element, 'child')
        name = self._names.of(element)
        if parent == WORLD and WORLD not in description.links:
            if description.links[child] in description.roots and type_name == 'fixed':
                description.notes.append(
                    f'gazebo joint {name!r} fixes the root link to the world, where it is '
                    'fixed already'
                )
                return
            description.links[WORLD] = Link(WORLD)
            description.roots.append(description.links[WORLD])
            self._poses = None
        if parent == child:
            raise document.error(element, f'its parent and its child are the same link {child!r}')
        pose = self._pose(element, child)
        self.result.dialect = 'gazebo joint'
        spec = JointSpec(name, type_name, parent, child, line=document.line(element))
        zero = self._zero()
        spec.place(pose_inverse(zero[parent]) @ pose, pose_inverse(pose) @ zero[child])
        if type_name in ('ball', *TWO_AXES) and element.find('*/limit') is not None:
            description.notes.append(
                f'gazebo joint {name!r}: it is of type {type_name}, so its <limit> is not used'
            )
        if type_name in TWO_AXES:
            self.result.loops.append(self._two_axes(element, spec, pose))
            return
        if type_name not in ('ball', 'fixed'):
            self._read_motion(element, spec, pose)
        loop = add_joint(description, spec)  # with all joints at 0, no link moves
        if loop is not None:
            self.result.loops.append(loop)

    def _zero(self) -> dict[str, Array]:
        if self._poses is None:
            self._poses = poses_at_zero(self._description)
        return self._poses

    def _link(self, element: Element, tag: str) -> str:
        """Return the name of an end link; `robot::link` stands for the link."""
        child = self._document.child(element, tag)
        name = child.get('link') or self._document.text(child)
        known = self._description.links
        if name not in known and '::' in name:
            name = name.rpartition('::')[2]
        if name not in known and not (name == WORLD and tag == 'parent'):
            message = unknown('link', name, list(known))
            raise self._document.error(element, f'<{tag}>: {message}')
        return name

    def _pose(self, element: Element, child: str) -> Array:
        """Return the joint's pose in the root frame at q = 0."""
        pose = element.find('pose')
        if pose is None:
            return self._zero()[child]
        base = self._frame(pose, pose.get('relative_to') or pose.get('frame') or child)
        return np.asarray(base @ read_pose(self._document, pose))

    def _frame(self, element: Element, name: str) -> Array:
        if name == '__model__':
            return np.eye(4)
        if name not in self._zero():
            message = unknown('link', name, [*self._description.links, '__model__'])
            raise self._document.error(element, message)
        return self._zero()[name]

    def _read_motion(self, element: Element, spec: JointSpec, pose: Array) -> None:
        """Read the axis of a joint and its limits."""
        axis = element.find('axis')
        if axis is None:
            self._description.notes.append(
                f'gazebo joint {spec.name!r}: no <axis>, taken as 0 0 1'
            )
            spec.axis = np.array((0.0, 0.0, 1.0))
            return
        spec.axis = self._axis(axis, pose)
        spec.limits = read_limits(
            self._document,
            element,
            axis.find('limit'),
            f'gazebo joint {spec.name!r}',
            self._description.notes,
            turns_freely=spec.type_name == 'continuous',
        )

    def _axis(self, element: Element, pose: Array) -> Array:
        """Return a unit vector in the joint frame."""
        xyz = element.find('xyz')
        numbers = self._document.text_numbers(xyz, (0.0, 0.0, 1.0))
        axis = self._document.direction(element, numbers)
        frame = None if xyz is None else xyz.get('expressed_in')
        if is_true(element.findtext('use_parent_model_frame')):
            frame = '__model__'
        if frame:
            axis = unit(pose[:3, :3].T @ (self._frame(element, frame)[:3, :3] @ axis))
        return axis

    def _two_axes(self, element: Element, spec: JointSpec, pose: Array) -> Loop:
        """Return the loop of a joint with two rotation axes."""
        document = self._document
        axes = [self._axis(document.child(element, tag), pose) for tag in ('axis', 'axis2')]
        if abs(axes[0] @ axes[1]) > 1e-6:
            raise document.error(
                element, 'its two axes must be at right angles', UnsupportedElementError
            )
        loop = spec.loop()
        loop.type_name = 'universal'
        turn_frame(loop.frame_b, axes[0], X)
        turn_frame(loop.frame_a, axes[1], Y)
        return loop


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
    return reader.result


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
    return reader.result


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
        self.result = LoopSet(document.source)
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
        self.result.loops.append(loop)
        self.result.dialect = 'DetachableJoint'

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

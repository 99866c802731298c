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

Drake's elements are read from any model, with or without a declared prefix, and so are pairs of
frames that are meant for a bushing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet, unknown, WORLD
from ik_node.description.joint_spec import JointSpec, read_limits
from ik_node.description.loops.closing_frames import DIALECT as CLOSING_FRAMES
from ik_node.description.loops.drake import DrakeReader
from ik_node.description.loops.loop_frames import LoopReader, turn_frame, X, Y
from ik_node.description.sdf.frames import FrameGraph, read_pose, SdfFrame, SdfScope
from ik_node.description.sdf.joints import TWO_AXES
from ik_node.description.tree import add_joint
from ik_node.description.xml_document import Array, is_true, XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.dof import DOF
from ik_node.model.link import Link
from ik_node.model.rotation import pose_inverse, pose_parts, unit
import numpy as np

TYPES = ('revolute', 'continuous', 'prismatic', 'ball', 'fixed', *TWO_AXES, 'gearbox')


def read_gazebo_joints(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read every <gazebo><joint>.

    A joint whose child is the root of a separate tree becomes a joint of the robot. Every other
    one closes a loop and becomes a closure; one with limits becomes a joint and a weld.
    """
    reader = _JointReader(document, description)
    for element in document.root.findall('gazebo/joint'):
        reader.read(element)
    return reader.result


class _JointReader(LoopReader):
    dialect = 'gazebo joint'

    def read(self, element: Element) -> None:
        """Read one joint."""
        document, description = self.document, self.description
        type_name = document.word(element, 'type', TYPES)
        if type_name == 'gearbox':
            ratio = element.findtext('gearbox_ratio', '1').strip()
            self.notes.append(
                f'gazebo joint {element.get("name", "")!r}: a gearbox (ratio {ratio[:30]}) '
                'is not read; declare it in a closures file: couplings: [{joint: ..., of: ..., '
                'coefficients: [0, -ratio]}]'
            )
            return
        parent, child = self._link(element, 'parent'), self._link(element, 'child')
        name = self.name_of(element)
        if parent == WORLD and WORLD not in description.links:
            if description.links[child] in description.roots and type_name == 'fixed':
                self.notes.append(
                    f'gazebo joint {name!r} fixes the root link to the world, where it is '
                    'fixed already'
                )
                return
            self.poses[WORLD] = np.eye(4)
            description.links[WORLD] = Link(WORLD)
            description.roots.append(description.links[WORLD])
        if parent == child:
            raise document.error(element, f'its parent and its child are the same link {child!r}')
        pose = self._pose(element, child)
        self.result.dialect = self.dialect
        spec = JointSpec(name, type_name, parent, child, line=document.line(element))
        spec.place(pose_inverse(self.poses[parent]) @ pose, pose_inverse(pose) @ self.poses[child])
        if type_name in ('ball', *TWO_AXES) and element.find('*/limit') is not None:
            self.notes.append(
                f'gazebo joint {name!r}: it is of type {type_name}, so its <limit> is not used'
            )
        if type_name in TWO_AXES:
            self._two_axes(element, spec, pose)
            return
        if type_name not in ('ball', 'fixed'):
            self._read_motion(element, spec, pose)
        loop = add_joint(description, spec)  # with all joints at 0, no link moves
        if loop is not None:
            self.result.loops.append(loop)

    def _link(self, element: Element, tag: str) -> str:
        """Return the name of an end link; `robot::link` stands for the link."""
        child = self.document.child(element, tag)
        name = child.get('link') or self.document.text(child)
        known = self.description.links
        if name not in known and '::' in name:
            name = name.rpartition('::')[2]
        if name != WORLD or tag != 'parent':
            self.document.known(element, 'link', name, known, f'<{tag}>')
        return name

    def _pose(self, element: Element, child: str) -> Array:
        """Return the joint's pose in the root frame at q = 0."""
        pose = element.find('pose')
        if pose is None:
            return self.poses[child]
        base = self._pose_of(pose, pose.get('relative_to') or pose.get('frame') or child)
        return np.asarray(base @ read_pose(self.document, pose))

    def _pose_of(self, element: Element, name: str) -> Array:
        if name == OWN_MODEL:
            return np.eye(4)
        self.document.known(element, 'link', name, self.poses)
        return self.poses[name]

    def _read_motion(self, element: Element, spec: JointSpec, pose: Array) -> None:
        """Read the axis of a joint and its limits."""
        axis, what = element.find('axis'), f'gazebo joint {spec.name!r}'
        if axis is None:
            self.notes.append(f'{what}: no <axis>, taken as 0 0 1')
            spec.axis = np.array((0.0, 0.0, 1.0))
            return
        spec.axis = self._direction(axis, pose)
        freely = spec.type_name == 'continuous'
        limit = axis.find('limit')
        spec.limits = read_limits(
            self.document, element, limit, what, self.notes, turns_freely=freely
        )

    def _direction(self, element: Element, pose: Array) -> Array:
        """Return the unit vector of an axis in the joint frame."""
        xyz = element.find('xyz')
        numbers = self.document.text_numbers(xyz, (0.0, 0.0, 1.0))
        axis = self.document.direction(element, numbers)
        frame = None if xyz is None else xyz.get('expressed_in')
        if is_true(element.findtext('use_parent_model_frame')):
            frame = OWN_MODEL
        if frame:
            axis = unit(pose[:3, :3].T @ (self._pose_of(element, frame)[:3, :3] @ axis))
        return axis

    def _two_axes(self, element: Element, spec: JointSpec, pose: Array) -> None:
        """Add the loop of a joint with two rotation axes."""
        document = self.document
        axes = [self._direction(document.child(element, tag), pose) for tag in ('axis', 'axis2')]
        if abs(axes[0] @ axes[1]) > 1e-6:
            message = 'its two axes must be at right angles'
            raise document.error(element, message, UnsupportedElementError)
        loop = spec.loop()
        loop.type_name = 'universal'
        turn_frame(loop.frame_b, axes[0], X)
        turn_frame(loop.frame_a, axes[1], Y)
        self.result.loops.append(loop)


OWN_MODEL = '__model__'
UNNAMED = '::'  # no frame has this name
TAGS = ('parent_link', 'child_link')


def is_detachable(plugin: Element) -> bool:
    """Return True if a plugin is Gazebo Sim's DetachableJoint."""
    words = f'{plugin.get("name", "")} {plugin.get("filename", "")}'.lower()
    return 'detachablejoint' in words.replace('-', '').replace('_', '')


def welds_own_links(plugin: Element, robot: str) -> bool:
    """Return True if the child of a DetachableJoint is a link of the robot itself."""
    return plugin.findtext('child_model', '').strip() in (OWN_MODEL, robot)


def read_detachable_joints(document: XmlDocument, description: Description) -> LoopSet:
    """Read every DetachableJoint in the <gazebo> elements of a URDF that welds two own links."""
    reader = _WeldReader(document, description)
    for plugin in filter(is_detachable, document.root.findall('gazebo/plugin')):
        if welds_own_links(plugin, description.name):
            reader.weld(plugin, [reader.known(plugin, tag, description.links) for tag in TAGS])
        else:
            reader.note_other(plugin)
    return reader.result


def read_detachable_joints_of_models(
    document: XmlDocument, graph: FrameGraph, scopes: Iterable[SdfScope], description: Description
) -> LoopSet:
    """Read every DetachableJoint of an SDFormat file that welds two links of the robot."""
    reader = _WeldReader(document, description)
    for scope in scopes:
        for plugin in filter(is_detachable, scope.frame.element.findall('plugin')):
            model = _child_model(scope, plugin)
            if model is None:
                reader.note_other(plugin)
                continue
            ends, reader.poses = [], {}
            for tag, around in zip(TAGS, (scope, model), strict=True):
                frame = around.find(plugin.findtext(tag, '').strip() or UNNAMED)
                if frame is None:
                    ends.append(reader.known(plugin, tag, around.frames))
                    continue
                link = graph.link(frame)
                ends.append(link.link_name)
                reader.poses[link.link_name] = graph.pose(link)
            reader.weld(plugin, ends)
    return reader.result


def _child_model(scope: SdfScope, plugin: Element) -> SdfScope | None:
    """Return the model of the child link; None if it is not part of the robot."""
    name = plugin.findtext('child_model', '').strip()
    if name in (OWN_MODEL, scope.frame.element.get('name')):
        return scope
    around = [scope, scope.world.inner] if name else []
    frames = [each.find(name) for each in around if each is not None]
    return next((frame.inner for frame in frames if frame is not None and frame.inner), None)


class _WeldReader(LoopReader):
    dialect = 'DetachableJoint'

    def known(self, plugin: Element, tag: str, names: Mapping[str, object]) -> str | None:
        """Return the name in an element of the plugin; None with a note if it is unknown."""
        name = plugin.findtext(tag, '').strip()
        if name in names:
            return name
        self._note(plugin, f'<{tag}>: {unknown("link", name, list(names))}')
        return None

    def weld(self, plugin: Element, ends: list[str | None]) -> None:
        """Add the weld of a child link to a parent link, given `poses` in the file."""
        parent, child = ends
        if parent is None or child is None:
            return
        if parent == child:
            self._note(plugin, f'it connects the link {parent!r} to itself')
            return
        pose = pose_parts(pose_inverse(self.poses[parent]) @ self.poses[child])
        frames = LoopFrame(child), LoopFrame(parent, *pose)
        loop = self.add(plugin, self.new_name('detachable_joint'), frames)
        loop.enabled = is_true(plugin.findtext('initial_attach', 'true'))
        if not loop.enabled:
            self.notes.append(
                f'DetachableJoint {loop.name!r} is not attached at the start; it is a '
                'disabled closure'
            )

    def note_other(self, plugin: Element) -> None:
        """Note that a plugin holds another model."""
        model = plugin.findtext('child_model', '').strip()
        self._note(
            plugin,
            f'its child_model {model!r} is not part of this robot; for a loop of the robot '
            f'itself write {OWN_MODEL}',
        )

    def _note(self, plugin: Element, why: str) -> None:
        line = self.document.line(plugin)
        self.notes.append(f'DetachableJoint on line {line} is not read: {why}')


PIN = (DOF.X, DOF.Y, DOF.EX, DOF.EY)


class DrakeLoops(DrakeReader):
    """A reader of Drake's loop elements in SDFormat: `result` declared and `guessed` loops."""

    notes_names = True

    def __init__(self, document: XmlDocument, graph: FrameGraph, description: Description) -> None:
        super().__init__(document, description)
        self.guessed = LoopSet(document.source)
        self._graph = graph

    def read_model(self, scope: SdfScope) -> None:
        """Read Drake's elements in one model."""
        self._scope = scope
        kinds = [self.read(element) for element in scope.frame.element]
        if 'linear_bushing_rpy' not in kinds:
            self._guess_bushings(scope)

    def numbers(self, element: Element, default: Sequence[float]) -> list[float]:
        """Return the numbers in the text of an element."""
        self.document.text(element)
        return self.document.text_numbers(element, default)

    def frame_in(self, element: Element, tag: str) -> LoopFrame:
        """Return the frame that a child element names."""
        child = self.document.child(element, tag)
        name = self.document.text(child)
        return self._placed(self._scope.need(name, element, f'<{tag}>'))

    def _guess_bushings(self, scope: SdfScope) -> None:
        """Add loops between frames such as Bc_bushing and Cb_bushing in Drake's example."""
        frames = {name: frame for name, frame in scope.frames.items() if frame.kind == 'frame'}
        ready = {_stem(name): frame for name, frame in frames.items() if _stem(name)}
        done: set[str] = set()
        for stem, first in ready.items():
            reversed_stems = (stem[::-1], '_'.join(reversed(stem.split('_'))))
            partner = next(
                (each for each in reversed_stems if each in ready and each != stem), None
            )
            if partner is None or stem in done:
                continue
            done |= {stem, partner}
            ends = [self._placed(ready[partner]), self._placed(first)]
            if ends[0].link == ends[1].link:
                continue
            name = self.new_name('bushing')
            line = self.document.line(first.element)
            self.guessed.loops.append(Loop(name, ends[0], ends[1], dofs=PIN, line=line))
            self.guessed.dialect = CLOSING_FRAMES
            self.notes.append(
                f'the frames {first.name!r} and {ready[partner].name!r} are taken '
                f"as the ends of a bushing that Drake's user adds in code: closure {name!r}, "
                'free along and about their z; closures given beside the description replace it'
            )

    def _placed(self, frame: SdfFrame) -> LoopFrame:
        """Return a frame as its pose in the link that carries it."""
        link = self._graph.link(frame)
        pose = pose_inverse(self._graph.pose(link)) @ self._graph.pose(frame)
        return LoopFrame(link.link_name, *pose_parts(pose))


def _stem(name: str) -> str:
    """Return a frame's name without the word bushing; '' if it does not contain the word."""
    low = name.lower()
    return low.replace('bushing', '').strip('_- ') if 'bushing' in low else ''

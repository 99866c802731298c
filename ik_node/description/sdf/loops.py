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

from collections.abc import Iterable
from dataclasses import replace
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, Loop, LoopFrame, LoopSet, unknown, WORLD
from ik_node.description.loops.closing_frames import DIALECT as CLOSING_FRAMES
from ik_node.description.loops.drake import DrakeReader
from ik_node.description.loops.loop_frames import LoopReader, turn_frame, X, Y
from ik_node.description.sdf.frames import FrameGraph, SdfFrame, SdfScope
from ik_node.description.sdf.joints import read_joint, SdfJoint, TWO_AXES
from ik_node.description.tree import add_joint, poses_at_zero
from ik_node.description.xml_document import is_true, XmlDocument
from ik_node.errors import UnsupportedElementError
from ik_node.model.dof import DOF
from ik_node.model.link import Link
from ik_node.model.rotation import pose_inverse, pose_parts

TYPES = ('revolute', 'continuous', 'prismatic', 'ball', 'fixed', *TWO_AXES, 'gearbox')


def _as_model(document: XmlDocument, description: Description) -> tuple[SdfScope, FrameGraph]:
    """Return the links of a URDF, with all joints at 0, and what <gazebo> adds as a model."""
    model = Element('model', {'name': description.name})
    model.extend(Element('link', {'name': name}) for name in description.links)
    for tag in ('joint', 'plugin'):
        model.extend(document.root.findall(f'gazebo/{tag}'))
    scope = SdfScope(document, model)
    poses = {scope.frames[name]: pose for name, pose in poses_at_zero(description).items()}
    return scope, FrameGraph(document, (1, 6), poses)


def read_gazebo_joints(document: XmlDocument, description: Description) -> LoopSet:
    """
    Read every <gazebo><joint>.

    A joint whose child is the root of a separate tree becomes a joint of the robot. Every other
    one closes a loop and becomes a closure; one with limits becomes a joint and a weld.
    """
    reader = _JointReader(document, description)
    elements = document.root.findall('gazebo/joint')
    for element in elements:
        element.set('name', reader.name_of(element))
        for end in (*element.findall('parent'), *element.findall('child')):
            name = end.get('link') or (end.text or '').strip()
            end.text = name if name in description.links else name.rpartition('::')[2]
    if elements:
        scope, graph = _as_model(document, description)
        for joint in scope.every('joint'):
            reader.read_joint(joint, graph)
    return reader.result


class _JointReader(LoopReader):
    dialect = 'gazebo joint'

    def read_joint(self, frame: SdfFrame, graph: FrameGraph) -> None:
        """Read one joint."""
        document, description, element = self.document, self.description, frame.element
        type_name = document.word(element, 'type', TYPES)
        if type_name == 'gearbox':
            ratio = element.findtext('gearbox_ratio', '1').strip()
            self.notes.append(
                f'gazebo joint {frame.name!r}: a gearbox (ratio {ratio[:30]}) is not read; '
                'declare it in a closures file: couplings: [{joint: ..., of: ..., coefficients: '
                '[0, -ratio]}]'
            )
            return
        joint = read_joint(document, graph, frame, self.notes)
        first, last = joint.specs[0], joint.specs[-1]
        document.known(element, 'link', last.child, description.links, '<child>')
        if first.parent == WORLD and WORLD not in description.links:
            if description.links[last.child] in description.roots and type_name == 'fixed':
                self.notes.append(
                    f'gazebo joint {frame.name!r} fixes the root link to the world, where it is '
                    'fixed already'
                )
                return
            description.links[WORLD] = Link(WORLD)
            description.roots.append(description.links[WORLD])
        if type_name in TWO_AXES:
            self._two_axes(joint)
            return
        loop = add_joint(description, first)  # with all joints at 0, no link moves
        if loop is not None:
            self.result.loops.append(loop)

    def _two_axes(self, joint: SdfJoint) -> None:
        """Add the loop of a joint with two rotation axes."""
        (first, last), element = joint.specs, joint.frame.element
        if abs(first.axis @ last.axis) > 1e-6:
            message = 'its two axes must be at right angles'
            raise self.document.error(element, message, UnsupportedElementError)
        if element.find('*/limit') is not None:
            self.notes.append(f'joint {joint.name!r} has two axes, so its <limit> is not used')
        last = replace(last, parent=first.parent, name=first.name, type_name='universal')
        last.position, last.quat_xyzw = first.position, first.quat_xyzw
        loop = last.loop()
        turn_frame(loop.frame_b, first.axis, X)
        turn_frame(loop.frame_a, last.axis, Y)
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
    if not any(map(is_detachable, document.root.findall('gazebo/plugin'))):
        return LoopSet(document.source)
    scope, graph = _as_model(document, description)
    return read_detachable_joints_of_models(document, graph, [scope], description)


def read_detachable_joints_of_models(
    document: XmlDocument, graph: FrameGraph, scopes: Iterable[SdfScope], description: Description
) -> LoopSet:
    """Read every DetachableJoint of an SDFormat file that welds two links of the robot."""
    reader = _WeldReader(document, description)
    for scope in scopes:
        for plugin in filter(is_detachable, scope.frame.element.findall('plugin')):
            reader.weld(plugin, scope, graph)
    return reader.result


def _child_model(scope: SdfScope, name: str) -> SdfScope | None:
    """Return the model of the child link; None if it is not part of the robot."""
    if name in (OWN_MODEL, scope.frame.element.get('name')):
        return scope
    around = [scope, scope.world.inner] if name else []
    frames = [each.find(name) for each in around if each is not None]
    return next((frame.inner for frame in frames if frame is not None and frame.inner), None)


class _WeldReader(LoopReader):
    dialect = 'DetachableJoint'

    def weld(self, plugin: Element, scope: SdfScope, graph: FrameGraph) -> None:
        """Add the weld of a plugin in a model, or note why it is not read."""
        name, why = plugin.findtext('child_model', '').strip(), ''
        model, ends = _child_model(scope, name), []
        if model is None:
            why = (
                f'its child_model {name!r} is not part of this robot; for a loop of the robot '
                f'itself write {OWN_MODEL}'
            )
        for tag, around in zip(TAGS, (scope, model), strict=True):
            link = plugin.findtext(tag, '').strip()
            frame = around.find(link or UNNAMED) if around is not None else None
            if frame is not None:
                ends.append(graph.link(frame))
            elif around is not None:
                why = f'<{tag}>: {unknown("link", link, list(around.frames))}'
        if not why and ends[0] is ends[1]:
            why = f'it connects the link {ends[0].link_name!r} to itself'
        if why:
            line = self.document.line(plugin)
            self.notes.append(f'DetachableJoint on line {line} is not read: {why}')
            return
        parent, child = ends
        pose = pose_parts(pose_inverse(graph.pose(parent)) @ graph.pose(child))
        frames = LoopFrame(child.link_name), LoopFrame(parent.link_name, *pose)
        loop = self.add(plugin, self.new_name('detachable_joint'), frames)
        loop.enabled = is_true(plugin.findtext('initial_attach', 'true'))
        if not loop.enabled:
            self.notes.append(
                f'DetachableJoint {loop.name!r} is not attached at the start; it is a '
                'disabled closure'
            )


PIN = (DOF.X, DOF.Y, DOF.EX, DOF.EY)


class DrakeLoops(DrakeReader):
    """A reader of Drake's loop elements in SDFormat: `result` declared and `guessed` loops."""

    def __init__(self, document: XmlDocument, graph: FrameGraph, description: Description) -> None:
        super().__init__(document, description)
        self.guessed = LoopSet(document.source, CLOSING_FRAMES)
        self._graph = graph

    def read_model(self, scope: SdfScope) -> None:
        """Read Drake's elements in one model."""
        self._scope = scope
        kinds = [self.read(element) for element in scope.frame.element]
        if 'linear_bushing_rpy' not in kinds:
            self._guess_bushings(scope)

    def located(self, name: str, element: Element, tag: str) -> LoopFrame:
        """Return a frame of the model, in the link that carries it."""
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

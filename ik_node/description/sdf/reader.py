"""Reader of SDFormat."""

from __future__ import annotations

from collections.abc import Container, Iterable
from xml.etree.ElementTree import Element

from ik_node.description.description import Description, free_name, LoopSet, quoted, WORLD
from ik_node.description.joint_spec import JointSpec, note_efforts
from ik_node.description.sdf.frames import (
    choose_model,
    FrameGraph,
    include_hint,
    read_pose,
    read_version,
    SdfFrame,
    SdfScope,
)
from ik_node.description.sdf.joints import read_couplings, read_joint, SdfJoint
from ik_node.description.sdf.loops import DrakeLoops, read_detachable_joints_of_models
from ik_node.description.tree import hang_joints, set_mass
from ik_node.description.xml_document import is_true, XmlDocument
from ik_node.model.link import Link
from ik_node.model.rotation import pose_inverse, pose_parts

# Words in the file or class names of plugins that drive the joints they list.
DRIVERS = ('jointpositioncontroller', 'jointcontroller', 'jointtrajectorycontroller', 'diffdrive')
TAGS = ('joint_name', 'left_joint', 'right_joint')


def read_motors(scopes: Iterable[SdfScope], joints: dict[str, SdfJoint]) -> list[str]:
    """
    Return the joints with a motor; an empty list if the file does not declare any.

    These are the joints that the <plugin> of a controller names. Without such a plugin, if some
    joints have an <effort> of 0, which means "no motor" in Drake, these are all other joints.
    """
    named: dict[str, None] = {}
    for scope in scopes:
        prefix = f'{scope.frame.name}::' if scope.frame.name else ''
        for plugin in scope.frame.element.findall('plugin'):
            what = f'{plugin.get("filename", "")} {plugin.get("name", "")}'.lower()
            what = what.replace('-', '').replace('_', '')
            if not any(driver in what for driver in DRIVERS):
                continue
            for tag in TAGS:
                for element in plugin.findall(tag):
                    named[prefix + (element.text or '').strip()] = None
    driven = [spec.name for name in named if name in joints for spec in joints[name].specs[:1]]
    if driven:
        return driven
    moved = [
        (joint.spec_of(tag), axis) for joint in joints.values() for tag, axis in joint.axes.items()
    ]
    if any(axis.limits.effort == 0.0 for _, axis in moved):
        return [s.name for s, axis in moved if s is not None and axis.limits.effort != 0.0]
    return []


def read_inertials(
    document: XmlDocument, links: Iterable[SdfFrame], description: Description
) -> None:
    """Read the masses of links; without <inertial> or <mass>, 1 kg as the format defines."""
    assumed: dict[str, list[str]] = {}
    for frame in links:
        link, inertial = description.links[frame.name], frame.element.find('inertial')
        mass = pose = None
        if inertial is not None:
            mass, pose = inertial.find('mass'), inertial.find('pose')
        centre = read_pose(document, pose)[:3, 3]
        set_mass(document, frame.element, link, document.text_numbers(mass, (1.0,))[0], centre)
        if mass is None:
            auto = inertial is not None and is_true(inertial.get('auto'))
            shapes = 'the mass depends on shapes, which are not read'
            assumed.setdefault(shapes if auto else 'no mass is given', []).append(link.name)
    for why, names in assumed.items():
        description.notes.append(f'links {quoted(names)}: {why}, taken as 1 kg')


def read_sdf(document: XmlDocument) -> Description:
    """
    Read the links, joints, frames and loops of an SDFormat file, versions 1.3 to 1.12.

    At q = 0 every link has the pose that its <pose> gives it in the file's world. Joints outside
    the spanning tree close loops. Each <frame> becomes a link, fixed to the link it is attached
    to.
    """
    return _SdfReader(document).read()


class _SdfReader:
    """A reader of one file."""

    def __init__(self, document: XmlDocument) -> None:
        self._document = document
        self._description = Description('robot', document.source)
        version = read_version(document, self._description.notes)
        self._description.dialect = f'SDFormat {".".join(map(str, version))}'
        self._graph = FrameGraph(document, version)
        self._links: dict[str, SdfFrame] = {}
        self._joints: dict[str, SdfJoint] = {}
        self._has_one_model = True

    def read(self) -> Description:
        """Return the description."""
        document, description = self._document, self._description
        around, model = choose_model(document, description.notes)
        self._has_one_model = model is not None
        world = SdfScope(document, around, robot=model)
        name = (around if model is None else model).get('name', '').strip()
        if not name:
            description.notes.append('the model has no name')
        description.name = name or 'robot'
        self._read_links(world)
        seen: dict[str, Element | None] = {}
        for frame in world.every('joint', 'drake:joint'):
            if self._carries_include(frame):
                continue
            document.once(frame.element, 'joint', frame.name, seen)
            joint = read_joint(document, self._graph, frame, description.notes)
            self._joints[frame.name] = joint
        self._add_links()
        rules = read_couplings(document, self._graph, self._joints, description.notes)
        scopes = [world, *(each.inner for each in world.every('model') if each.inner)]
        motors = read_motors(scopes, self._joints)
        self._hang_joints(world, set(motors))
        drake = DrakeLoops(document, self._graph, description)
        for scope in scopes:
            drake.read_model(scope)
        description.loops += [
            drake.result,
            drake.guessed,
            LoopSet(document.source, couplings=rules),
        ]
        description.loops.append(
            read_detachable_joints_of_models(document, self._graph, scopes, description)
        )
        description.actuated = [each for each in motors if description.joints[each].dof]
        specs = [spec for joint in self._joints.values() for spec in joint.specs]
        note_efforts(specs, description.actuated, description.notes)
        self._note_unread(scopes)
        return description

    # -- links and frames

    def _read_links(self, world: SdfScope) -> None:
        links = list(world.every('link'))
        seen: dict[str, Element | None] = {}
        for frame in links:
            self._document.once(frame.element, 'link', frame.name, seen)
            self._description.links[frame.name] = Link(frame.name)
            self._links[frame.name] = frame
        if not links:
            message = 'no <link> in it; a robot needs one' + include_hint(self._document.root)
            raise self._document.error(world.frame.element, message)
        read_inertials(self._document, links, self._description)

    def _carries_include(self, joint: SdfFrame) -> bool:
        """Return True if a joint carries a part of an <include>, and note that."""
        child = joint.element.findtext('child', '').strip()
        if not joint.scope.is_included(child):
            return False
        self._description.notes.append(
            f'joint {joint.name!r} is not read: its child {child!r} is part of an <include>'
        )
        return True

    def _hang_joints(self, world: SdfScope, motors: set[str]) -> None:
        """Build the spanning tree; the joints outside it become loops."""
        description = self._description
        specs = [spec for joint in self._joints.values() for spec in joint.specs]
        for spec in specs:
            spec.needed = spec.needed or spec.name in motors
        fixed = self._frames(world, {spec.name for spec in specs})
        description.loops.append(hang_joints(description, [*specs, *fixed], undirected=True))
        for root in description.roots:
            frame = self._links.get(root.name)
            if frame is not None:
                position, quat_xyzw = pose_parts(self._graph.pose(frame))
                root.set_position(*position)
                root.set_quaternion(*quat_xyzw)

    def _add_links(self) -> None:
        """Declare the links that the file omits: the world, and the links between two axes."""
        links = self._description.links
        names = set(self._joints)
        for joint in self._joints.values():
            for spec in joint.specs[1:]:  # the second of two motions
                spec.name = free_name(spec.name, names)
                names.add(spec.name)
                spec.parent = joint.specs[0].child = free_name(spec.parent, links)
                links[spec.parent] = Link(spec.parent)
            if any(WORLD in (spec.parent, spec.child) for spec in joint.specs):
                links.setdefault(WORLD, Link(WORLD))

    def _frames(self, world: SdfScope, joints: Container[str]) -> list[JointSpec]:
        """Declare a link for every <frame>, and return a fixed joint of the same name for each."""
        description = self._description
        specs = []
        for frame in world.every('frame'):
            if frame.scope is world and self._has_one_model:
                continue  # not part of the robot
            why, carrier = '', self._graph.link(frame)
            if frame.name in description.links or frame.name in joints:
                why = 'a link or joint has that name'
            elif carrier.link_name not in description.links:
                why = 'it is attached to the world, to which no joint connects the robot'
            if why:
                description.notes.append(f'frame {frame.name!r} does not become a link: {why}')
                continue
            description.links[frame.name] = Link(frame.name)
            pose = pose_inverse(self._graph.pose(carrier)) @ self._graph.pose(frame)
            spec = JointSpec(frame.name, 'fixed', carrier.link_name, frame.name)
            spec.place(pose)
            specs.append(spec)
        return specs

    def _note_unread(self, scopes: list[SdfScope]) -> None:
        """Note elements of the robot that are not read."""
        notes = self._description.notes
        for scope in scopes:
            element = scope.frame.element
            for include in element.findall('include'):
                if scope.frame.is_world and self._has_one_model:
                    continue  # ground, light and other surroundings
                uri = include.findtext('uri', '').strip()
                notes.append(f'<include> of {uri[:80]!r} is not read; `gz sdf -p FILE` expands it')
            if is_true(element.findtext('static')) and self._joints:
                name = element.get('name', '')
                notes.append(f'model {name!r} is static; its joints are read as movable')

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
    description = Description('robot', document.source)
    notes = description.notes
    version = read_version(document, notes)
    description.dialect = f'SDFormat {".".join(map(str, version))}'
    graph = FrameGraph(document, version)
    around, model = choose_model(document, notes)
    world = SdfScope(document, around, robot=model)
    name = (around if model is None else model).get('name', '').strip()
    if not name:
        notes.append('the model has no name')
    description.name = name or 'robot'
    links = _read_links(document, world, description)
    joints: dict[str, SdfJoint] = {}
    seen: dict[str, Element | None] = {}
    for frame in world.every('joint', 'drake:joint'):
        child = frame.element.findtext('child', '').strip()
        if frame.scope.is_included(child):
            notes.append(
                f'joint {frame.name!r} is not read: its child {child!r} is part of an <include>'
            )
            continue
        document.once(frame.element, 'joint', frame.name, seen)
        joints[frame.name] = read_joint(document, graph, frame, notes)
    _add_links(joints, description.links)
    rules = read_couplings(document, graph, joints, notes)
    scopes = [world, *(each.inner for each in world.every('model') if each.inner)]
    motors = read_motors(scopes, joints)
    specs = [spec for joint in joints.values() for spec in joint.specs]
    for spec in specs:
        spec.needed = spec.needed or spec.name in motors
    # With one model, what is around it is not part of the robot.
    others = [] if model is None else [world]
    fixed = _frames(graph, world, others, {spec.name for spec in specs}, description)
    description.loops.append(hang_joints(description, [*specs, *fixed], undirected=True))
    for root in description.roots:
        if root.name in links:
            position, quat_xyzw = pose_parts(graph.pose(links[root.name]))
            root.set_position(*position)
            root.set_quaternion(*quat_xyzw)
    drake = DrakeLoops(document, graph, description)
    for scope in scopes:
        drake.read_model(scope)
    couplings = LoopSet(document.source, couplings=rules)
    welds = read_detachable_joints_of_models(document, graph, scopes, description)
    description.loops += [drake.result, drake.guessed, couplings, welds]
    description.actuated = [each for each in motors if description.joints[each].dof]
    note_efforts(specs, description.actuated, notes)
    for scope in scopes:
        element = scope.frame.element
        for include in element.findall('include') if scope not in others else ():
            uri = include.findtext('uri', '').strip()
            notes.append(f'<include> of {uri[:80]!r} is not read; `gz sdf -p FILE` expands it')
        if is_true(element.findtext('static')) and joints:
            name = element.get('name', '')
            notes.append(f'model {name!r} is static; its joints are read as movable')
    return description


def _read_links(
    document: XmlDocument, world: SdfScope, description: Description
) -> dict[str, SdfFrame]:
    """Declare the links, and return their frames by name."""
    links: dict[str, SdfFrame] = {}
    seen: dict[str, Element | None] = {}
    for frame in world.every('link'):
        document.once(frame.element, 'link', frame.name, seen)
        description.links[frame.name] = Link(frame.name)
        links[frame.name] = frame
    if not links:
        message = 'no <link> in it; a robot needs one' + include_hint(document.root)
        raise document.error(world.frame.element, message)
    read_inertials(document, links.values(), description)
    return links


def _add_links(joints: dict[str, SdfJoint], links: dict[str, Link]) -> None:
    """Declare the links that the file omits: the world, and the links between two axes."""
    names = set(joints)
    for joint in joints.values():
        for spec in joint.specs[1:]:  # the second of two motions
            spec.name = free_name(spec.name, names)
            names.add(spec.name)
            spec.parent = joint.specs[0].child = free_name(spec.parent, links)
            links[spec.parent] = Link(spec.parent)
        if any(WORLD in (spec.parent, spec.child) for spec in joint.specs):
            links.setdefault(WORLD, Link(WORLD))


def _frames(
    graph: FrameGraph,
    world: SdfScope,
    others: Container[SdfScope],
    joints: Container[str],
    description: Description,
) -> list[JointSpec]:
    """Declare a link for every <frame>, and return a fixed joint of the same name for each."""
    specs = []
    for frame in world.every('frame'):
        if frame.scope in others:
            continue
        why, carrier = '', graph.link(frame)
        if frame.name in description.links or frame.name in joints:
            why = 'a link or joint has that name'
        elif carrier.link_name not in description.links:
            why = 'it is attached to the world, to which no joint connects the robot'
        if why:
            description.notes.append(f'frame {frame.name!r} does not become a link: {why}')
            continue
        description.links[frame.name] = Link(frame.name)
        spec = JointSpec(frame.name, 'fixed', carrier.link_name, frame.name)
        spec.place(pose_inverse(graph.pose(carrier)) @ graph.pose(frame))
        specs.append(spec)
    return specs

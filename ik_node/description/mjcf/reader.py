"""Reader of MJCF."""

from __future__ import annotations

from math import comb

from ik_node.description.description import CouplingRule, Description, LoopSet, Names, quoted
from ik_node.description.joint_spec import JointSpec, Limits
from ik_node.description.loops.couplings import rule_of_sum
from ik_node.description.mjcf.bodies import (
    BodyReader,
    compose,
    Mjcf,
    MjcfBody,
    MjcfJoint,
    MjcfLoop,
    MjcfSum,
    no_pose,
    read_masses,
)
from ik_node.description.mjcf.document import Defaults, MjcfDocument, Pose, read_settings, Settings
from ik_node.description.mjcf.equality import EqualityReader, read_actuators
from ik_node.description.mjcf.expand import Attachments, Expander
from ik_node.description.tree import hang_joints
from ik_node.description.xml_document import XmlDocument
from ik_node.model.link import Link
from ik_node.model.rotation import quat_identity
import numpy as np

TYPES = {'ball': 'spherical', 'free': 'floating', 'slide': 'prismatic'}


def build(model: Mjcf, description: Description) -> None:
    """
    Fill a description with links, joints, masses, loops and motors.

    Joint values are those of MuJoCo: at its `ref`, a joint has the pose in the file. For a free
    joint, X Y Z are the first three numbers of its qpos; EX EY EZ rotate the body from its pose in
    the file about the world's axes. For a ball joint, EX EY EZ are the Euler angles of its
    quaternion.
    """
    links = Names(body.name for body in model.bodies)
    joints = Names(joint.name for joint in model.joints)
    specs: list[JointSpec] = []
    for body in model.bodies:
        if body.parent is not None:
            _add_body(body, body.parent.name, specs, links, joints, description)
        link = description.links[body.name] = Link(body.name)
        link.mass, link.centre_of_mass = body.mass, np.array(body.centre_of_mass)
        for site, pose in body.sites.items():
            name = links.unique(f'{site}_site' if site in links.taken else site)
            if name != site:
                description.notes.append(
                    f'the name of site {site!r} is taken; it is renamed to {name!r}'
                )
            description.links[name] = Link(name)
            specs.append(_fixed(f'{name}_fixed', body.name, name, pose, joints))
    hang_joints(description, specs)
    _start(model, description)
    description.loops.append(_loops(model, description))
    description.actuated = list(model.actuated)


def _fixed(name: str, parent: str, child: str, pose: Pose, joints: Names) -> JointSpec:
    spec = JointSpec(joints.unique(name), 'fixed', parent, child)
    spec.position, spec.quat_xyzw = pose
    return spec


def _add_body(
    body: MjcfBody,
    parent: str,
    specs: list[JointSpec],
    links: Names,
    joints: Names,
    description: Description,
) -> None:
    """Append a body's joints in series, with massless links between them."""
    pose = body.pose
    if not body.joints:
        specs.append(_fixed(f'{body.name}_fixed', parent, body.name, pose, joints))
        if body.mocap:
            description.notes.append(
                f'body {body.name!r} is a mocap body, which programs move; it is fixed here'
            )
    for joint in body.joints:
        is_last = joint is body.joints[-1]
        child = body.name if is_last else links.unique(f'{body.name}__{joint.name}')
        if not is_last:
            description.links[child] = Link(child)
        specs.append(_joint_spec(joint, parent, child, pose))
        parent, pose = child, no_pose()


def _joint_spec(joint: MjcfJoint, parent: str, child: str, pose: Pose) -> JointSpec:
    """Return a joint between two links; `pose` is that of the body before the motion."""
    hinge = 'revolute' if np.isfinite(joint.limits).any() else 'continuous'
    spec = JointSpec(joint.name, TYPES.get(joint.kind, hinge), parent, child)
    if joint.kind == 'free':
        spec.child_quat_xyzw = pose[1]
        return spec
    back = quat_identity()
    if joint.kind == 'hinge' and joint.ref:
        back = np.append(-np.sin(0.5 * joint.ref) * joint.axis, np.cos(0.5 * joint.ref))
    place = joint.position - joint.ref * joint.axis * (joint.kind == 'slide')
    spec.position, spec.quat_xyzw = compose(pose, (place, back))
    spec.child_position = -joint.position
    spec.axis = joint.axis
    spec.limits = Limits(*joint.limits, effort=max(map(abs, joint.efforts)))
    return spec


def _start(model: Mjcf, description: Description) -> None:
    """Set the joint values of the model as written, and note the meaning of values of many DoF."""
    kinds: dict[str, list[str]] = {'free': [], 'ball': []}
    for body in model.bodies:
        for joint in body.joints:
            if joint.kind == 'free':
                description.joints[joint.name].set_dof_values(*body.pose[0], 0.0, 0.0, 0.0)
            elif joint.kind != 'ball' and joint.ref:
                description.joints[joint.name].set_dof_values(joint.ref)
            if joint.kind in kinds:
                kinds[joint.kind].append(joint.name)
    if kinds['free']:
        description.notes.append(
            f'free joint {quoted(kinds["free"])}: X Y Z are the first three numbers of qpos; EX '
            "EY EZ (Rz Ry Rx) rotate the body from its pose in the file, about the world's axes"
        )
    if kinds['ball']:
        description.notes.append(
            f'ball joint {quoted(kinds["ball"])}: EX EY EZ are the Euler angles (Rz Ry Rx) of qpos'
        )


def _loops(model: Mjcf, description: Description) -> LoopSet:
    loops = LoopSet(description.source)
    follows: list[MjcfSum] = []
    for each in model.equalities:
        if isinstance(each, MjcfLoop):
            _add_loop(each, loops, description)
        elif each.enabled:
            follows.append(each)
        else:
            joint = repr(next(iter(each.terms)))
            description.notes.append(f'the equality of joint {joint} is inactive; it is not read')
    loops.couplings = _couplings(follows, model, description)
    if loops.loops or loops.couplings:
        loops.dialect = 'equality'
    return loops


def _add_loop(each: MjcfLoop, loops: LoopSet, description: Description) -> None:
    loop, (body_a, body_b) = each.loop, each.bodies
    if body_a is body_b:
        description.notes.append(f'equality {loop.name!r} connects body {body_a.name!r} to itself')
        return
    loop.frame_a.link, loop.frame_b.link = body_a.name, body_b.name
    mocap = next((body.name for body in each.bodies if body.mocap), None)
    if mocap is not None and loop.enabled:
        loop.enabled = False
        description.notes.append(
            f'equality {loop.name!r} drags the robot with the mocap body {mocap!r}; it is a '
            'disabled closure'
        )
    loops.loops.append(loop)


def _couplings(
    follows: list[MjcfSum], model: Mjcf, description: Description
) -> list[CouplingRule]:
    """Return coupling rules without cycles, at most one per joint."""
    references = {joint.name: joint.ref for joint in model.joints}
    rules: list[CouplingRule] = []
    for each in follows:
        terms = {name: _shifted(p, references[name]) for name, p in each.terms.items()}
        moving = [name for name, polynomial in terms.items() if any(polynomial[1:])]
        if len(moving) == 1 and len(terms[moving[0]]) == 2:
            (name,) = moving
            stays = -sum(polynomial[0] for polynomial in terms.values()) / terms[name][1]
            moved = description.joints[name]
            moved.set_limits(moved.dof[0], stays, stays)
            description.notes.append(f'joint {name!r} is held at {stays:g} by an equality')
            continue
        rule = rule_of_sum(terms, rules, () if each.follower else model.actuated, each.line)
        if rule is not None:
            rules.append(rule)
            continue
        description.notes.append(
            f'the equality of joints {quoted(terms)} is not used: other equalities already '
            f'determine {next(iter(terms))!r}'
        )
    return rules


def _shifted(numbers: list[float], ref: float) -> list[float]:
    """Return the c_i of sum c_i q**i = sum a_i (q - ref)**i."""
    result = [0.0] * len(numbers)
    for power, number in enumerate(numbers):
        for i in range(power + 1):
            result[i] += number * comb(power, i) * (-ref) ** (power - i)
    while len(result) > 2 and result[-1] == 0.0:
        result.pop()
    return result


# Sections that need no note: they are read elsewhere, or do not affect the kinematics.
SILENT = (
    *('compiler', 'option', 'size', 'visual', 'statistic', 'default', 'asset', 'worldbody'),
    *('contact', 'equality', 'tendon', 'actuator', 'sensor', 'custom', 'extension', 'keyframe'),
)


def note_the_rest(document: MjcfDocument, notes: list[str]) -> None:
    """Note the elements of other sections that are not read."""
    used = {
        each.get(end)
        for each in document.root.findall('equality/tendon')
        for end in ('tendon1', 'tendon2')
    }
    tendons = document.root.findall('tendon/*')
    unread = [each for each in tendons if each.get('name', '') not in used]
    if unread:
        notes.append(f'{len(unread)} tendons are not read, as no equality couples joints by them')
    keys = [key.get('name', '') for key in document.root.findall('keyframe/*')]
    if keys:
        notes.append(
            f'{len(keys)} keyframes are not read: {quoted(keys)}; the start is the pose in '
            'the file'
        )
    if document.root.find('deformable') is not None:
        notes.append('<deformable> is not read: soft objects have no joints')
    tags = {str(each.tag) for each in document.root} - {*SILENT, 'deformable'}
    for tag in sorted(tags):
        notes.append(f'<{tag}> is not read')


def read_mjcf(document: XmlDocument) -> Description:
    """Read the links, joints, loops and couplings of an MJCF."""
    whole = MjcfDocument(document)
    name = whole.root.get('model')
    description = Description(name or 'robot', document.source, dialect='MJCF')
    if not name:
        description.notes.append('the model has no name')
    model = read_model(whole, description.notes)
    build(model, description)
    return description


def read_model(document: MjcfDocument, notes: list[str]) -> Mjcf:
    """Return the kinematics of an MJCF, with attached models and replicas expanded."""
    if document.repeated:
        files = quoted(sorted(document.repeated))
        notes.append(f'files included more than once, which MuJoCo does not allow: {files}')
    settings, defaults, reader = read_bodies(document, notes)
    read_masses(document, reader.bodies, settings, notes)
    reader.equalities[:0] = EqualityReader(document, reader, defaults, notes).result
    read_actuators(document, reader, settings, defaults, notes)
    note_the_rest(document, notes)
    return reader


def read_bodies(document: MjcfDocument, notes: list[str]) -> tuple[Settings, Defaults, BodyReader]:
    """Return the settings, the classes and the bodies of an MJCF."""
    settings = read_settings(document)
    Expander(document, settings)
    defaults = Defaults(document, notes)
    attached = Attachments(document, read_model, notes).model_of
    return settings, defaults, BodyReader(document, settings, defaults, notes, attached)

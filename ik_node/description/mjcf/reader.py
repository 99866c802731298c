"""Reader of MJCF."""

from __future__ import annotations

from math import comb

from ik_node.description.description import (
    CouplingRule,
    Description,
    Loop,
    LoopFrame,
    LoopSet,
    quoted,
)
from ik_node.description.joint_spec import JointSpec, Limits
from ik_node.description.loops.couplings import rule_of_sum
from ik_node.description.mjcf.bodies import (
    BodyReader,
    compose,
    Mjcf,
    MjcfBody,
    MjcfConstraint,
    MjcfCoupling,
    MjcfJoint,
    MjcfSum,
    Names,
    Pose,
    read_masses,
)
from ik_node.description.mjcf.document import Defaults, MjcfDocument, read_settings
from ik_node.description.mjcf.equality import EqualityReader, read_actuators
from ik_node.description.mjcf.expand import Attachments, expand_replicates
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
        if body is not model.bodies[0]:
            _add_body(body, model.bodies[body.parent].name, specs, links, joints, description)
        link = description.links[body.name] = Link(body.name)
        link.mass, link.centre_of_mass = body.mass, np.array(body.centre_of_mass)
        for site in body.sites:
            name = links.unique(site.name if links.is_free(site.name) else f'{site.name}_site')
            if name != site.name:
                description.notes.append(
                    f'the name of site {site.name!r} is taken; it is renamed to {name!r}'
                )
            description.links[name] = Link(name)
            spec = JointSpec(joints.unique(f'{name}_fixed'), 'fixed', body.name, name)
            spec.position, spec.quat_xyzw = site.position, site.quat_xyzw
            specs.append(spec)
    hang_joints(description, specs)
    _start(model, description)
    description.loops.append(_loops(model, description))
    description.actuated = list(model.actuated)


def _add_body(
    body: MjcfBody,
    parent: str,
    specs: list[JointSpec],
    links: Names,
    joints: Names,
    description: Description,
) -> None:
    """Append a body's joints in series, with massless links between them."""
    pose: Pose = (body.position, body.quat_xyzw)
    if not body.joints:
        spec = JointSpec(joints.unique(f'{body.name}_fixed'), 'fixed', parent, body.name)
        spec.position, spec.quat_xyzw = pose
        specs.append(spec)
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
        parent, pose = child, (np.zeros(3), quat_identity())


def _joint_spec(joint: MjcfJoint, parent: str, child: str, pose: Pose) -> JointSpec:
    """Return a joint between two links; `pose` is that of the body before the motion."""
    limited = np.isfinite((joint.lower, joint.upper)).any()
    hinge = 'revolute' if limited else 'continuous'
    spec = JointSpec(joint.name, TYPES.get(joint.kind, hinge), parent, child)
    if joint.kind == 'free':
        spec.child_quat_xyzw = pose[1]
        return spec
    back = quat_identity()
    if joint.kind == 'hinge' and joint.ref:
        back = np.append(-np.sin(0.5 * joint.ref) * joint.axis, np.cos(0.5 * joint.ref))
    place = joint.position
    if joint.kind == 'slide':
        place = joint.position - joint.ref * joint.axis
    spec.position, spec.quat_xyzw = compose(pose, (place, back))
    spec.child_position = -joint.position
    spec.axis = joint.axis
    spec.limits = Limits(joint.lower, joint.upper, effort=max(map(abs, joint.efforts)))
    return spec


def _start(model: Mjcf, description: Description) -> None:
    """Set the joint values of the model as written, and note the meaning of values of many DoF."""
    kinds: dict[str, list[str]] = {'free': [], 'ball': []}
    for body in model.bodies:
        for joint in body.joints:
            if joint.kind == 'free':
                description.joints[joint.name].set_dof_values(*body.position, 0.0, 0.0, 0.0)
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
    loops = LoopSet(description.source, 'equality')
    follows: list[MjcfCoupling | MjcfSum] = []
    for each in model.equalities:
        if isinstance(each, MjcfConstraint):
            _add_constraint(each, model, loops, description)
        elif each.enabled:
            follows.append(each)
        else:
            joint = repr(next(iter(each.terms)))
            description.notes.append(f'the equality of joint {joint} is inactive; it is not read')
    loops.couplings = _couplings(follows, model, description)
    if not loops.loops and not loops.couplings:
        loops.dialect = ''
    return loops


def _add_constraint(
    constraint: MjcfConstraint, model: Mjcf, loops: LoopSet, description: Description
) -> None:
    bodies = [model.bodies[index] for index in constraint.bodies]
    if bodies[0] is bodies[1]:
        description.notes.append(
            f'equality {constraint.name!r} connects body {bodies[0].name!r} to itself'
        )
        return
    frames = [
        LoopFrame(body.name, np.array(position), np.array(quat))
        for body, position, quat in zip(
            bodies, constraint.positions, constraint.quats_xyzw, strict=True
        )
    ]
    loop = Loop(
        constraint.name,
        frames[0],
        frames[1],
        constraint.kind,
        enabled=constraint.enabled,
        line=constraint.line,
    )
    for body in bodies:
        if body.mocap and loop.enabled:
            loop.enabled = False
            description.notes.append(
                f'equality {constraint.name!r} drags the robot with the mocap body '
                f'{body.name!r}; it is a disabled closure'
            )
    loops.loops.append(loop)


def _couplings(
    follows: list[MjcfCoupling | MjcfSum], model: Mjcf, description: Description
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
        driven = model.actuated if isinstance(each, MjcfSum) else ()
        rule = rule_of_sum(terms, rules, driven, each.line)
        if rule is None:
            description.notes.append(
                f'the equality of joints {quoted(terms)} is not used: other equalities already '
                f'determine {next(iter(terms))!r}'
            )
            continue
        rules.append(rule)
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
        for section in document.sections('equality')
        for each in section.findall('tendon')
        for end in ('tendon1', 'tendon2')
    }
    tendons = [each for section in document.sections('tendon') for each in section]
    unread = [each for each in tendons if each.get('name', '') not in used]
    if unread:
        notes.append(f'{len(unread)} tendons are not read, as no equality couples joints by them')
    keys = [key.get('name', '') for each in document.sections('keyframe') for key in each]
    if keys:
        notes.append(
            f'{len(keys)} keyframes are not read: {quoted(keys)}; the start is the pose in '
            'the file'
        )
    if document.sections('deformable'):
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
    settings = read_settings(document)
    expand_replicates(document, settings)
    defaults = Defaults(document, notes)
    attached = Attachments(document, read_model, notes).model_of
    reader = BodyReader(document, settings, defaults, notes, attached)
    read_masses(document, reader, settings, notes)
    equalities = EqualityReader(document, reader, defaults, notes).result
    model = Mjcf(reader.bodies, equalities + reader.equalities, reader.actuated)
    read_actuators(document, model, settings, defaults, notes)
    note_the_rest(document, notes)
    return model

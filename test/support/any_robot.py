"""Random robots within the model, more general than a URDF."""

from hypothesis import strategies as st
from ik_node.description.description import Description
from ik_node.description.tree import hang_tree
from ik_node.model.closure import Closure, CLOSURE_TYPES
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import quat_from_euler, unit
import numpy as np

SETS = [
    *([dof] for dof in DOF),
    *([], list(DOF), [DOF.EX, DOF.EY, DOF.EZ], [DOF.X, DOF.Y, DOF.EZ], [DOF.Y, DOF.Z, DOF.EX]),
    *([DOF.X, DOF.Z, DOF.EY], [DOF.X, DOF.EZ], [DOF.EX, DOF.EY], [DOF.Z, DOF.EX, DOF.EZ]),
    list(DOF)[:5],
]
NAMES = st.text(
    st.characters(codec='utf-8', exclude_categories=['Cs', 'Cc', 'Cn']), min_size=1, max_size=6
).filter(lambda name: name.strip())
# Names that mean something to a reader of some format.
MEANING = ('closing_x_1', 'closing_x_2', 'closing_x_1_z', 'closing_x_2_z', 'world', 'fermeture_1')
SHORT_ANGLES = (0.0, 0.3, np.pi / 2, -np.pi / 2, np.pi, 1.5707963)


def some_pose(random, frame, *, plain=False):
    kind = random.integers(0, 4)
    if kind == 0 or plain:
        return
    if kind == 1:
        frame.set_position(*random.choice([0.0, 0.25, -1.5], 3))
        frame.set_quaternion(*quat_from_euler(*random.choice(SHORT_ANGLES, 3)))
        return
    if kind == 2:
        frame.set_position(0.0, 0.0, 0.4)
        return
    frame.set_position(*random.normal(0.0, 1.0, 3))
    frame.set_quaternion(*unit(random.normal(0.0, 1.0, 4)))


def some_limits(random, joint):
    """Set random limits of axes, on both sides, one or none, and velocity and effort limits."""
    for dof in joint.dof:
        low, high = np.sort(random.normal(0.0, 1.0, 2))
        low, high = min(low, 0.0), max(high, 0.0)
        kind = random.integers(0, 5)
        if len(joint.dof) > 1 and random.random() < 0.7:
            continue
        bounds = [(low, high), (-np.inf, high), (low, np.inf), (-np.inf, np.inf)][kind % 4]
        joint.set_limits(dof, *bounds)
        if random.random() < 0.6:
            joint.max_velocity[dof] = random.uniform(0.1, 3.0)
        if kind > 1:
            joint.max_effort[dof] = 1.0 + high - low


def some_couplings(random, joints):
    movable = [joint for joint in joints if joint.dof]
    for at, joint in enumerate(movable):
        if at == 0 or random.random() < 0.7:
            continue
        master = movable[random.integers(0, at)]
        dof, of = random.choice(joint.dof), random.choice(master.dof)
        if master.couplings:
            continue
        joint.set_limits(DOF(dof), -np.inf, np.inf)
        count = random.integers(1, 5)
        joint.couple(DOF(dof), master, DOF(of), random.normal(0.0, 0.4, count))


def some_closures(random, description):
    names = list(description.links)
    for at in range(random.integers(0, 4) if len(names) > 1 else 0):
        ends = random.choice(len(names), 2, replace=False)
        closure = Closure(f'loop {at} <&">', random.choice(list(CLOSURE_TYPES)))
        if closure.kind == 'frame' and random.random() < 0.3:
            closure.set_dof(*(dof for dof in DOF if random.random() < 0.5))
        some_pose(random, closure)
        closure.set_offset(random.normal(0.0, 1.0, 3), unit(random.normal(0.0, 1.0, 4)))
        closure.distance = random.uniform(0.0, 2.0) if closure.kind == 'distance' else 0.0
        if random.random() < 0.3:
            closure.tolerance = [random.uniform(0.0, 1e-3), random.uniform(0.0, 1e-3)]
        if random.random() < 0.3:
            closure.weight = random.uniform(0.0, 3.0)
        closure.enabled = bool(random.random() < 0.8)
        description.links[names[ends[0]]].add_child(closure)
        closure.make_closure(description.links[names[ends[1]]])
        description.closures[closure.name] = closure


@st.composite
def any_robots(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    names = draw(st.lists(NAMES | st.sampled_from(MEANING), min_size=1, max_size=8, unique=True))
    description = Description(draw(NAMES))
    ends = {}
    for at, name in enumerate(names):
        link = Link(name)
        description.links[name] = link
        if random.random() < 0.4:
            link.mass = random.uniform(0.1, 5.0)
            link.centre_of_mass = random.normal(0.0, 1.0, 3)
        some_pose(random, link)
        if at == 0 or random.random() < 0.1:
            continue
        joint = Joint(f'{names[random.integers(0, at)]}-{name}')
        joint.set_dof(*SETS[random.integers(0, len(SETS))])
        some_pose(random, joint)
        some_limits(random, joint)
        description.joints[joint.name] = joint
        ends[joint.name] = (names[random.integers(0, at)], name)
    hang_tree(description, ends)
    some_couplings(random, list(description.joints.values()))
    some_closures(random, description)
    for joint in description.joints.values():
        if random.random() < 0.4:
            for dof in joint.dof:
                joint.set_dof_value(dof, random.normal(0.0, 0.5))
    if random.random() < 0.2 and 'float' not in description.joints:
        carrier = Joint('float')
        carrier.set_dof(*SETS[random.integers(0, len(SETS))])
        some_pose(random, carrier)
        carrier.add_child(description.roots[0])
        description.roots[0] = carrier
        description.joints = {'float': carrier, **description.joints}
    movable = [joint.name for joint in description.joint_order]
    description.actuated = [name for name in movable if random.random() < 0.5]
    return description

"""loop_closures.yaml of CAD exporters: what it says to the model, and what each fault is told."""

from ik_node import load_robot, Solver
from ik_node.description.read import read_description
from ik_node.model.dof import DOF
from ik_node.model.rotation import matrix_to_quat, quat_to_matrix
import numpy as np


def joint(name, parent, child, xyz, kind='continuous', inside=''):
    """Return a joint about y."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 1 0"/>{inside}</joint>'
    )


# A four-bar linkage in the plane y = 0, closed at zero: base pins at 0 and x = 2, crank 1 upwards,
# coupler to (2.2, 1.5), rocker back to the base. The base hangs turned and moved below the root.
MIMIC = '<mimic joint="crank" multiplier="-0.7"/>'
ROBOT = (
    '<robot name="r">'
    + ''.join(f'<link name="{name}"/>' for name in ('root', 'base', 'a', 'b', 'c'))
    + '<joint name="mount" type="fixed"><parent link="root"/><child link="base"/>'
    '<origin xyz="0.1 0.2 0.3" rpy="0.5 0.6 0.7"/></joint>'
    + joint('crank', 'base', 'a', '0 0 0')
    + joint('coupler', 'a', 'b', '0 0 1', 'continuous', MIMIC)
    + joint('rocker', 'base', 'c', '2 0 0')
    + '</robot>'
)


def in_root(vector, point=True):
    """Return a point or direction of the base, in the root link's frame."""
    matrix = read_description(ROBOT).links['base'].matrix_world
    return [float(value) for value in (matrix @ [*vector, float(point)])[:3]]


def hinge(**changes):
    """Return the loop's entry."""
    entry = {'link_a': 'b', 'link_b': 'c', 'point': in_root((2.2, 0.0, 1.5))}
    entry['axis'] = in_root((0.0, 3.0, 0.0), point=False)
    return {**entry, **changes}


def test_hinge_is_given_at_zero():
    """Point and axis are the root link's at the all-zero pose; free about the axis only."""
    content = {'closures': [hinge()], 'dependent': ['coupler', 'rocker'], 'independent': ['crank']}
    description = read_description(ROBOT, closures=content)
    (closure,) = description.closures.values()
    assert closure.name == 'b__c'
    assert closure.dof == [DOF.X, DOF.Y, DOF.Z, DOF.EX, DOF.EY]
    assert description.dialect == 'URDF + loop_closures YAML'
    assert description.actuated == ['crank']
    np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-12)
    for link, local in (('b', (2.2, 0.0, 0.5)), ('c', (0.2, 0.0, 1.5))):
        frame = description.links[link].matrix_world @ [*local, 1.0]
        np.testing.assert_allclose(frame[:3], in_root((2.2, 0.0, 1.5)), atol=1e-12)
    np.testing.assert_allclose(closure.position, (0.2, 0.0, 1.5), atol=1e-12)  # in c, as frame_b
    np.testing.assert_allclose(closure.offset_position, (2.2, 0.0, 0.5), atol=1e-12)
    for quat in (closure.quaternion, closure.offset_quaternion):
        np.testing.assert_allclose(quat_to_matrix(quat)[:, 2], (0.0, 1.0, 0.0), atol=1e-12)


def test_closure_pose_is_at_zero_even_outside_limits():
    """The pose that counts is all joints at 0, even where a limit keeps a joint from it."""
    limit = '<limit lower="0.5" upper="1" effort="1" velocity="1"/>'
    text = ROBOT.replace(joint('crank', 'base', 'a', '0 0 0'), '').replace(
        '</robot>', joint('crank', 'base', 'a', '0 0 0', 'revolute', limit) + '</robot>'
    )
    description = read_description(
        text, closures={'closures': [hinge()], 'dependent': ['coupler']}
    )
    (closure,) = description.closures.values()
    assert description.joints['crank'].dof_values[DOF.EY] == 0.5
    np.testing.assert_allclose(closure.position, (0.2, 0.0, 1.5), atol=1e-12)
    np.testing.assert_allclose(closure.offset_position, (2.2, 0.0, 0.5), atol=1e-12)


def test_loop_replaces_the_mimic():
    """A mimic of a dependent joint only comes near the loop; without it the linkage can turn."""
    content = {'closures': [hinge()], 'dependent': ['coupler', 'rocker'], 'independent': ['crank']}
    robot = load_robot(ROBOT, closures=content)
    assert int(robot.mobility) == 1
    assert robot.joints['coupler'].couplings == {}
    assert (
        "joint 'coupler': its <mimic> is removed, as `dependent` states"
        in robot.description.notes[-1]
    )
    wanted = robot.forward([0.4, 0.0, 0.0], 'a')
    goal = {'a': (wanted[:3, 3], matrix_to_quat(wanted[:3, :3]))}
    solution = Solver(robot).solve_pose(goal)
    assert solution.status.name == 'CONVERGED'
    assert abs(solution.q[robot.joint_names.index('crank')] - 0.4) < 1e-6
    for other in (1, 2):
        assert abs(solution.q[other]) > 0.01


def test_closure_without_axis_is_a_point():
    """Without an axis it is a point; names are kept, or made and numbered."""
    entries = [hinge(axis=None), hinge(name='n'), hinge(), hinge()]
    description = read_description(ROBOT, closures={'closures': entries, 'independent': []})
    assert list(description.closures) == ['b__c', 'n', 'b__c_2', 'b__c_3']
    assert description.closures['b__c'].dof == [DOF.X, DOF.Y, DOF.Z]
    assert description.actuated == []


def test_closure_to_the_world_is_read():
    """A closure may tie a link to the world."""
    (closure,) = read_description(
        ROBOT, closures={'closures': [hinge(link_b='world')]}
    ).closures.values()
    np.testing.assert_allclose(closure.position, in_root((2.2, 0.0, 1.5)), atol=1e-12)
    np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-12)


def test_pins_and_balls_are_read():
    """The variant with points in each link's frame, ball joints made of others, and its motors."""
    description = read_description(
        ROBOT,
        closures="""
ball_loops:
  - {name: rod, parent: b, child: c, parent_xyz: [2.2, 0, 0.5], child_xyz: [0.2, 0, 1.5]}
pin_loops:
  - name: pin
    parent: b
    child: c
    parent_xyz: [2.2, 0, 0.5]
    child_xyz: [0.2, 0.0, 1.5]
    axis: [0.0, -2.0, 0.0]
ball_upgrades: [rocker, mount]
ball_limit_deg: 15.0
actuated_joints: [crank]
""",
    )
    assert description.actuated == ['crank']
    rod, pin = description.closures['rod'], description.closures['pin']
    assert rod.dof == [DOF.X, DOF.Y, DOF.Z]
    assert pin.dof == [DOF.X, DOF.Y, DOF.Z, DOF.EX, DOF.EY]
    for closure in (rod, pin):
        np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-12)
    np.testing.assert_allclose(pin.matrix[:3, 2], (0.0, -1.0, 0.0), atol=1e-12)
    for name in ('rocker', 'mount'):
        assert description.joints[name].dof == [DOF.EX, DOF.EY, DOF.EZ]
    assert "<text>: the key 'ball_limit_deg' is not read" in description.notes

"""Rates of ball and floating joints are the derivatives of their values, everywhere."""

from ik_node.robot import load_robot
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

STEP = 1e-6
INERTIA = '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/></inertial>'


def robot_of(kind, loop):
    """Return a robot with a ball or floating joint, and an arm that may close a loop with it."""
    joints = (
        f'<joint name="j" type="{kind}"><parent link="base"/><child link="plate"/></joint>'
        '<joint name="yaw" type="continuous"><parent link="base"/><child link="a"/>'
        '<origin xyz="0.5 0 0"/><axis xyz="0 0 1"/></joint>'
        '<joint name="swing" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 1 0"/></joint>'
        '<joint name="rod" type="prismatic"><parent link="b"/><child link="c"/>'
        '<axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
    )
    links = ''.join(f'<link name="{n}">{INERTIA}</link>' for n in ('plate', 'a', 'b', 'c'))
    closures = [
        {
            'name': 'tip',
            'frame_a': {'link': 'c'},
            'frame_b': {'link': 'plate', 'xyz': [0.4, 0.1, 0.6]},
            'type': 'ball',
        }
    ]
    text = f'<robot name="r"><link name="base"/>{links}{joints}</robot>'
    return load_robot(text, closures={'closures': closures if loop else []})


@pytest.fixture(params=[('ball', False), ('ball', True), ('floating', False), ('floating', True)])
def robot(request):
    """Return a robot away from all zeros, with the loop closed, and the rates of its motors."""
    robot = robot_of(*request.param)
    names = [name for name in robot.joint_names if name.startswith('j.')]
    values = dict(zip(names[-3:], (0.5, -0.9, 0.7), strict=True))
    robot.q = robot._solver.drive(values).q
    robot.actuated = names if request.param[1] else robot.joint_names
    return robot


def moved(robot, rates, step):
    """Return the configuration after motors have moved, with the loop closed."""
    names = robot.actuated
    values = dict(zip(robot.joint_names, robot.q, strict=True))
    wanted = {name: values[name] + step * rate for name, rate in zip(names, rates, strict=True)}
    return robot._solver.drive(wanted).q


def difference(robot, rates, function):
    """Return the central difference of a function of q along a motion of the motors."""
    ends = [function(moved(robot, rates, step)) for step in (STEP, -STEP)]
    return (ends[0] - ends[1]) / (2.0 * STEP)


def test_velocity_is_the_derivative_of_all_values(robot):
    """Motors and passive joints."""
    rates = np.linspace(0.3, -0.5, len(robot.actuated))
    np.testing.assert_allclose(
        robot.velocity(robot.q, rates), difference(robot, rates, lambda q: q), atol=1e-6
    )
    chosen = robot.transmission(joints=robot.actuated).to_joints(
        robot.q[[robot.joint_names.index(name) for name in robot.actuated]], rates
    )
    np.testing.assert_allclose(chosen.joint_velocity, rates, atol=1e-9)


def test_link_jacobian_maps_rates_of_motors(robot):
    """Linear and angular velocity of the plate, by differences of its pose."""
    rates = np.linspace(0.3, -0.5, len(robot.actuated))
    found = robot.link_jacobian(robot.q, 'plate') @ rates
    point = difference(robot, rates, lambda q: robot.forward(q, 'plate')[:3, 3])
    turns = [robot.forward(moved(robot, rates, s), 'plate')[:3, :3] for s in (STEP, -STEP)]
    turn = Rotation.from_matrix(turns[0] @ turns[1].T).as_rotvec() / (2.0 * STEP)
    np.testing.assert_allclose(found, [*point, *turn], atol=1e-6)
    between = robot.transmission(joints=['plate'])
    own = [
        rate for name, rate in zip(robot.actuated, rates, strict=True) if name in between.actuators
    ]
    np.testing.assert_allclose(between.jacobian(robot.q) @ own, [*point, *turn], atol=1e-6)

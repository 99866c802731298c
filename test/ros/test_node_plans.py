"""Plans in the joint space of an ankle and a delta, over the middleware."""

from itertools import pairwise
import time

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.trajectory_controller import objection
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

TOLERANCE = 1e-5
COUNT = 200
SPACES = {
    'ankle': (['motor_left', 'motor_right'], ['ankle_pitch', 'ankle_roll'], [0.4, 0.2]),
    'delta': (
        ['arm0', 'arm1', 'arm2'],
        ['platform_x', 'platform_y', 'platform_z'],
        [0.03, 0.02, 0.03],
    ),
}


@pytest.fixture(params=['ankle'])
def planner(request, graph, urdf):
    """Provide the graph with a robot whose motors are measured, and a list of trajectories."""
    graph.motors, graph.joints, graph.there = SPACES[request.param]
    graph.trajectories = []
    graph.client.create_subscription(
        JointTrajectory, 'ik_node/joint_trajectory', graph.trajectories.append, 5000
    )
    graph.watched = graph.start_robot(
        urdf(request.param),
        output__type='joint_trajectory',
        joint_state_timeout=1000.0,
        actuated_joints=graph.motors,
        transmission__joints=graph.joints,
        transmission__path_tolerance=TOLERANCE,
    )
    return graph


def measure(graph):
    at = [graph.watched.names.index(name) for name in graph.motors]
    values = dict(zip(graph.motors, graph.watched.robot.q[at].tolist(), strict=True))
    graph.measure(**values)


def plan(graph, duration=1.0, count=COUNT):
    begin = graph.watched.robot.q[[graph.watched.names.index(name) for name in graph.joints]]
    message = JointTrajectory(joint_names=graph.joints[::-1])
    message.header.stamp.sec = int(time.time()) + 1000
    for s in np.linspace(0.0, 1.0, count):
        position = begin + (graph.there - begin) * (10 * s**3 - 15 * s**4 + 6 * s**5)
        point = JointTrajectoryPoint(positions=position[::-1].tolist())
        nanoseconds = round(1e9 * duration * s)
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(nanoseconds, 10**9)
        message.points.append(point)
    return message


def send(graph, message):
    graph.publish(JointTrajectory, 'ik_node/joint_trajectory_command', message, 1)


def seconds(point):
    return point.time_from_start.sec, point.time_from_start.nanosec


def configurations(graph, message):
    """Return the configurations of all points, (n, nq), by forward kinematics in the test."""
    transmission = graph.watched.robot.transmission(graph.motors, graph.joints)
    q, found = graph.watched.robot.q, []
    for point in message.points:
        state = transmission.to_joints(list(point.positions), q0=q)
        assert state.converged
        q = state.q.copy()
        found.append(q)
    return np.array(found)


@pytest.mark.parametrize('planner', SPACES, indirect=True)
def test_plan_becomes_a_trajectory_of_the_motors(planner):
    """The controller accepts it, stamps stay, and the loops are closed between the points."""
    send(planner, plan(planner))
    planner.wait(lambda: 'not measured yet' in planner.log(), 'the reason for no trajectory')
    measure(planner)
    sent = plan(planner)
    send(planner, sent)
    planner.wait(lambda: planner.trajectories, 'the trajectory')
    (made,) = planner.trajectories
    assert objection(made, planner.motors, time.time()) == ''
    assert list(made.joint_names) == planner.motors
    assert made.header.stamp == sent.header.stamp
    times = [seconds(point) for point in made.points]
    assert set(times) >= {seconds(point) for point in sent.points}
    q = configurations(planner, made)
    joints = q[:, [planner.watched.names.index(name) for name in planner.joints]]
    given = [times.index(seconds(point)) for point in sent.points]
    wanted = np.array([point.positions[::-1] for point in sent.points])
    assert joints[given] == pytest.approx(wanted, abs=1e-6)
    opening = max(
        planner.watched.gap(loop, before + share * (after - before))
        for before, after in pairwise(q)
        for share in (0.3, 0.5, 0.7)
        for loop in planner.watched.loops
    )
    assert opening <= 1.1 * TOLERANCE
    velocities = np.array([point.velocities for point in made.points])
    assert np.abs(velocities).max() > 0.1
    assert all(len(point.accelerations) == len(planner.motors) for point in made.points)
    # Sparse points need more between them.
    send(planner, plan(planner, count=2))
    planner.wait(lambda: len(planner.trajectories) == 2, 'the second trajectory')
    assert len(planner.trajectories[1].points) > 4


def test_command_after_a_plan_leads_the_motors_again(planner):
    """Before it, the node is silent beside the controller that follows the plan."""
    measure(planner)
    send(planner, plan(planner, duration=1000.0))
    planner.wait(lambda: planner.trajectories, 'the trajectory')
    planner.wait(lambda: 'a joint-space plan is under way' in planner.row('output')[0], 'the note')
    assert planner.is_silent(planner.trajectories)
    begin = planner.watched.robot.q[planner.watched.names.index(planner.joints[0])]
    command = JointState(name=planner.joints[:1], position=[float(begin)])
    planner.publish(JointState, 'ik_node/joint_command', command, 1)
    planner.wait(lambda: len(planner.trajectories) > 5, 'commands')
    assert len(planner.trajectories[-1].points) == 1


WHEEL = """
<robot name="wheel"><link name="base"/><link name="rim"/>
<joint name="wheel" type="continuous"><parent link="base"/><child link="rim"/><axis xyz="0 0 1"/>
<limit effort="1" velocity="50"/></joint></robot>"""


def test_plan_within_one_turn_moves_a_motor_that_has_turned_three_times(graph):
    found = []
    graph.client.create_subscription(JointTrajectory, 'ik_node/joint_trajectory', found.append, 10)
    values = {'output__type': 'joint_trajectory', 'transmission__joints': ['wheel']}
    graph.start_robot(WHEEL, **values)
    begin = 6.0 * np.pi + 0.3
    graph.measure(wheel=begin)
    message = JointTrajectory(joint_names=['wheel'])
    for at, value in enumerate((0.3, 0.6)):
        message.points.append(JointTrajectoryPoint(positions=[value]))
        message.points[-1].time_from_start.sec = at
    send(graph, message)
    graph.wait(lambda: found, 'the trajectory')
    positions = [point.positions[0] for point in found[0].points]
    assert (positions[0], positions[-1]) == pytest.approx((begin, begin + 0.3))


def test_joint_states_show_the_measured_robot_after_a_plan(planner):
    """During the plan and after it, not the pose from before; a new goal leads again."""
    measure(planner)
    send(planner, plan(planner))
    planner.wait(lambda: planner.trajectories, 'the trajectory')
    q = configurations(planner, planner.trajectories[0])
    for configuration in (q[len(q) // 2], q[-1]):
        at = [planner.watched.names.index(name) for name in planner.motors]
        planner.measure(**dict(zip(planner.motors, configuration[at].tolist(), strict=True)))
        planner.wait(
            lambda wanted=configuration: (
                np.abs(np.array(planner.joint_states[-1].position) - wanted).max() < 1e-4
            ),
            'the measured configuration',
        )

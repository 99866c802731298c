"""A node whose ticks are late, and one whose joints two publishers measure."""

import os
import signal
import time

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

JOINTS = [f'j{n}' for n in range(1, 7)]
ARM = np.array([0.2, 0.3, 0.5, 0.1, 0.6, 0.0])


def test_velocities_are_true_although_ticks_are_late(graph, urdf):
    motors, asked = ['motor_left', 'motor_right'], {'ankle_pitch': 0.02, 'ankle_roll': -0.01}
    robot = graph.start_robot(
        urdf('ankle'),
        output__type='commands',
        output__interface='velocity',
        output__max_following_error=0.0,
        actuated_joints=motors,
        transmission__joints=list(asked),
    ).robot
    graph.measure(**dict.fromkeys(motors, 0.0))
    commands, random = [], np.random.default_rng(3)
    graph.client.create_subscription(
        Float64MultiArray, 'ik_node/commands', lambda m: commands.append(np.array(m.data)), 200
    )
    command = JointState(name=list(asked), velocity=list(asked.values()))
    node = graph.processes['node'].pid

    def moves():
        graph.publish(JointState, 'ik_node/joint_command', command, 1, arrives=False)
        os.kill(node, signal.SIGSTOP)
        time.sleep(0.05 * random.random())
        os.kill(node, signal.SIGCONT)
        return sum(velocity.any() for velocity in commands) > 150

    graph.wait(moves, 'velocities')
    wanted = np.array(list(asked.values()))
    transmission = robot.transmission(motors, list(asked))
    true = np.linalg.pinv(transmission.jacobian(robot.q)) @ wanted
    # The ankle turns by some hundredths of a radian meanwhile.
    for velocity in commands:
        assert not velocity.any() or velocity == pytest.approx(true, abs=0.1 * abs(true).max())


def test_two_publishers_of_the_same_joints_are_named(graph, urdf):
    """A publisher of zeros beside a driver, in one warning; the diagnostics go on to say it."""
    import rclpy

    output = {'output__type': 'commands', 'output__joints': ['left_shoulder']}
    graph.start_robot(urdf('fivebar'), **output)
    graph.wait(lambda: 'output.joints leaves out right_shoulder' in graph.log(), 'the motor')
    other = rclpy.Context()
    rclpy.init(context=other)
    node = rclpy.create_node('joint_state_publisher', namespace='left', context=other)
    zeros = node.create_publisher(JointState, '/joint_states', 10)

    def told():
        graph.measure(left_shoulder=0.3, right_shoulder=0.2)
        zeros.publish(JointState(name=['left_shoulder'], position=[0.0]))
        return 'joint_states' in str(graph.diagnostics.keys())

    try:
        graph.wait(told, 'the row')
        message = graph.diagnostics['ik_node: joint_states'].message
        graph.wait(lambda: message in graph.log(), 'the warning')
    finally:
        node.destroy_node()
        rclpy.shutdown(context=other)
    assert '/client and /left/joint_state_publisher both publish left_shoulder' in message
    assert graph.log().count('both publish') == 1

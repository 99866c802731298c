"""Motions that nobody asked for do not happen: the node beside a controller of its commands."""

import os
import signal
import time

from geometry_msgs.msg import TwistStamped
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.trajectory_controller import objection
from trajectory_msgs.msg import JointTrajectory

JOINTS = [f'j{n}' for n in range(1, 7)]
ARM = np.array([0.2, 0.3, 0.5, 0.1, 0.6, 0.0])


class Controller:
    """A controller that takes trajectories of one point; switched off, others move the robot."""

    def __init__(self, graph, joints, at):
        self.joints, self.at = list(joints), np.array(at)
        self.active, self.steps, self.last = True, [], None
        graph.client.create_subscription(
            JointTrajectory, 'ik_node/joint_trajectory', self._take, 10
        )
        self.publisher = graph.client.create_publisher(JointState, 'joint_states', 10)
        graph.client.create_timer(0.01, self._measure)

    def _take(self, message):
        assert objection(message, self.joints, time.time(), nonzero_end=True) == ''
        self.last = np.array(message.points[-1].positions)
        if self.active:
            self.steps.append(np.abs(self.last - self.at).max())
            self.at = self.last

    def _measure(self):
        self.publisher.publish(JointState(name=self.joints, position=self.at.tolist()))


def start_arm(graph, urdf, **parameters):
    """Start the node for an arm whose tool is a goal."""
    graph.watched = graph.start_robot(
        urdf('arm6'), goals={'tool': 'tool_link'}, output__type='joint_trajectory', **parameters
    )
    graph.tool = lambda q: graph.watched.robot.forward(np.asarray(q), 'tool_link')


def send_tool(graph, q):
    from ik_node.model.rotation import pose_from_matrix

    graph.send_goal('tool', *pose_from_matrix(graph.tool(q)))


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


def test_twist_keeps_to_its_line_and_status_and_diagnostics_say_where_it_ends(graph, urdf):
    start_arm(graph, urdf, state_source='solution', goal_timeout=5.0)
    Controller(graph, JOINTS, ARM)
    message = TwistStamped()
    message.twist.linear.x = 0.2

    def ended():
        graph.publish(TwistStamped, 'ik_node/goals/tool/twist', message, 1, arrives=False)
        return 'goal tool cannot follow its twist: at' in graph.last_status()

    graph.wait(ended, 'the end of the line')
    words = 'goal tool cannot follow its twist: at'

    def told(row):
        graph.publish(TwistStamped, 'ik_node/goals/tool/twist', message, 1, arrives=False)
        return words in graph.row(row)[0]

    for row in ('output', 'twists'):
        graph.wait(lambda row=row: told(row), row)
    begin = graph.tool(ARM)
    moved = False
    for state in graph.joint_states[:: max(len(graph.joint_states) // 200, 1)]:
        if np.abs(np.array(state.position) - graph.watched.robot.q).max() < 1e-9:
            continue  # before the first command
        pose = graph.tool(state.position)
        assert pose[1:3, 3] == pytest.approx(begin[1:3, 3], abs=3e-6)
        assert pose[:3, :3] == pytest.approx(begin[:3, :3], abs=3e-6)
        moved = moved or pose[0, 3] > begin[0, 3] + 0.05
    assert moved


def test_hand_over_at_rest_is_without_a_step(graph, urdf):
    """Others move the robot by less than the limit; then the controller is active again."""
    start_arm(graph, urdf)
    controller = Controller(graph, JOINTS, ARM)
    send_tool(graph, ARM + 0.05)
    goal = ARM + 0.05
    graph.wait(lambda: np.abs(controller.at - goal).max() < 1e-4, 'the goal')
    graph.spin(100)
    controller.active = False
    for _ in range(60):
        controller.at = controller.at + 0.15 / 60 * np.array([1, -1, 1, 0, 1, 0])
        graph.spin(2)
    graph.wait(lambda: 'was moved by something else' in graph.row('output')[0], 'the row')
    graph.spin(100)
    assert np.abs(controller.last - controller.at).max() <= 0.011
    controller.steps.clear()
    controller.active = True
    graph.wait(lambda: np.abs(controller.at - goal).max() < 1e-3, 'the way back')
    limit = float(graph.watched.robot.max_velocity.max())
    assert controller.steps[0] <= 0.011
    assert max(controller.steps) <= max(0.011, 0.0101 * limit)


def test_robot_parked_just_outside_a_limit_comes_back(graph, urdf):
    """2 mrad; the joint states show it where it is, and commands lead inwards only."""
    start_arm(graph, urdf)
    parked, upper = ARM.copy(), graph.watched.robot.upper[2]
    parked[2] = upper + 0.002
    controller = Controller(graph, JOINTS, parked)
    graph.watched.robot.joints['j3'].set_limits('EY', -10.0, 10.0)
    inside = parked.copy()
    inside[2] = upper - 0.05
    send_tool(graph, inside)
    graph.wait(lambda: np.abs(controller.at - inside).max() < 1e-3, 'the goal inside')
    assert max(state.position[2] for state in graph.joint_states) <= upper + 0.002 + 1e-9


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

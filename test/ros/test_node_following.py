"""A robot that does not follow, and a node that stood still, over the middleware."""

import os
import signal
import time

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.watched_robot import Watched

PLATFORM = 'platform_link'
ARMS = ('arm0', 'arm1', 'arm2')
LIMIT = 0.2


class Arm:
    """Three motors that publish where they are and go where they are sent, or stand still."""

    def __init__(self, graph, at):
        self.at = np.array(at)
        self.follows = True
        self.commands = []
        self.largest = 0.0
        self._publisher = graph.client.create_publisher(JointState, 'joint_states', 10)
        graph.client.create_subscription(
            Float64MultiArray, 'ik_node/commands', self._on_command, 5000
        )
        graph.client.create_timer(0.01, self._measure)
        self._clock = graph.client.get_clock()

    def _measure(self):
        message = JointState(name=list(ARMS), position=self.at.tolist())
        message.header.stamp = self._clock.now().to_msg()
        self._publisher.publish(message)

    def _on_command(self, message):
        command = np.array(message.data)
        self.commands.append(command)
        self.largest = max(self.largest, float(np.abs(command - self.at).max()))
        if self.follows:
            self.at = self.at + 0.5 * (command - self.at)


@pytest.fixture(scope='module')
def delta(lasting_graph, urdf):
    graph = lasting_graph
    robot = Watched(urdf('delta')).robot
    graph.arm = Arm(graph, [robot.q[robot.joint_names.index(name)] for name in ARMS])
    goals = {'platform': (PLATFORM, 'X Y Z')}
    graph.delta = graph.start_robot(
        urdf('delta'), rate=100.0, output__type='commands', goals=goals
    )
    return graph


def row(graph):
    return graph.diagnostics.get('ik_node: output', DiagnosticStatus())


def arms(graph, offset):
    return np.array([*graph.delta.motors(ARMS, PLATFORM, offset).values()])


def go(graph, offset):
    graph.send_goal('platform', graph.delta.place(PLATFORM, offset))
    wanted = arms(graph, offset)
    graph.wait(lambda: np.allclose(graph.arm.at, wanted, atol=1e-3), 'the arms')
    return wanted


def test_frozen_node_starts_at_the_measured_configuration(delta):
    """The arms are moved by hand during 3 s; the first command is their measurement."""
    arm = delta.arm
    old = go(delta, [0.05, 0.03, 0.0])
    moved = arms(delta, [-0.06, -0.04, 0.02])
    assert np.abs(moved - old).max() > LIMIT
    process = delta.processes['node']
    os.kill(process.pid, signal.SIGSTOP)
    try:
        arm.follows = False
        begin, start = arm.at, time.monotonic()
        while (share := (time.monotonic() - start) / 3.0) < 1.0:
            arm.at = begin + share * (moved - begin)
            delta.turn()
        arm.at = moved
        # What the node sent before it stood still may still be on its way.
        delta.read_out(arm.commands)
        arm.commands.clear()
    finally:
        os.kill(process.pid, signal.SIGCONT)
    # A tick that was under way when the node was stopped still sends its command.
    delta.wait(lambda: [c for c in arm.commands if not np.allclose(c, old)], 'a new command')
    late = [np.allclose(command, old) for command in arm.commands].index(False)
    assert late <= 1
    assert arm.commands[late] == pytest.approx(moved, abs=1e-6)
    arm.follows = True
    delta.wait(lambda: np.allclose(arm.at, old, atol=1e-3), 'the goal of before')

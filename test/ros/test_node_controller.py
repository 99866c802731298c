"""Plans for a controller in a process of its own; through its action where control_msgs is."""

import signal

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

MOTORS = ['motor_left', 'motor_right']
JOINTS = ['ankle_pitch', 'ankle_roll']
TOPIC = '/controller/joint_trajectory'
ACTION = '/controller/follow_joint_trajectory'
ABORTED, CANCELED, SUCCEEDED = 6, 5, 4


def plan(end=(0.3, 0.1), seconds=2.0, count=20, start=(0.0, 0.0)):
    message = JointTrajectory(joint_names=JOINTS)
    for s in np.linspace(0.0, 1.0, count):
        share = 10 * s**3 - 15 * s**4 + 6 * s**5
        point = JointTrajectoryPoint()
        point.positions = [a + (b - a) * float(share) for a, b in zip(start, end, strict=True)]
        nanoseconds = round(1e9 * seconds * float(s))
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(nanoseconds, 10**9)
        message.points.append(point)
    return message


class Ankle:
    """The node, its controller, and a client of plans."""

    def __init__(self, graph, text):
        self.graph, self.text = graph, text
        graph.knows(text)

    def start(self, *controller, node=()):
        self.start_controller('controller', 'controller', *MOTORS, *controller)
        self.start_node(
            *('-p', 'output.type:=joint_trajectory', '-r', f'~/joint_trajectory:={TOPIC}'),
            *('-p', f'output.action:={ACTION}', *node),
        )

    def start_controller(self, name, *words):
        self.graph.start(name, 'support.controller_process', *words)

    def start_node(self, *words):
        graph = self.graph
        graph.start_node(
            *('-p', f'actuated_joints:=[{", ".join(MOTORS)}]', '-p', 'state_source:=actuated'),
            *('-p', f'transmission.joints:=[{", ".join(JOINTS)}]', *words),
        )
        graph.describe(self.text)
        graph.wait(lambda: graph.row('ticks')[1]['joint_states'] != '0', 'measurements')

    def start_groups(self):
        words = []
        for motor in MOTORS:
            self.start_controller(motor, f'{motor}_controller', motor)
            topic = f'/{motor}_controller'
            words += ['-p', f'output.{motor}.joints:=[{motor}]']
            words += ['-p', f'output.{motor}.topic:={topic}/joint_trajectory']
            words += ['-p', f'output.{motor}.action:={topic}/follow_joint_trajectory']
        self.start_node('-p', f'output.groups:=[{", ".join(MOTORS)}]', *words)

    def publish(self, message):
        self.graph.publish(JointTrajectory, 'ik_node/joint_trajectory_command', message, 1)

    def controller_says(self, words):
        self.graph.wait(lambda: words in self.graph.log('controller'), words)

    def send(self, message):
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient

        self.client = ActionClient(
            self.graph.client, FollowJointTrajectory, 'ik_node/follow_joint_trajectory'
        )
        self.graph.wait(self.client.server_is_ready, 'the action')
        self.graph.be_discovered()
        self.feedback = []
        sent = self.client.send_goal_async(
            FollowJointTrajectory.Goal(trajectory=message), self.feedback.append
        )
        self.graph.wait(sent.done, 'the answer')
        return sent.result()

    def follow(self, message):
        """Send a goal once the node has discovered its controllers; return status and result."""
        while True:
            status, result = self.result(self.send(message))
            if 'does not offer' not in result.error_string:
                return status, result

    def result(self, handle):
        result = handle.get_result_async()
        self.graph.wait(result.done, 'the result')
        return result.result().status, result.result().result


@pytest.fixture
def ankle(graph, urdf):
    ankle = Ankle(graph, urdf('ankle'))
    yield ankle
    print(graph.log('controller') if 'controller' in graph.processes else '')


def test_plan_on_the_topic_stops_with_the_node(ankle):
    """The controller gets a trajectory that ends at rest, near where the motors are."""
    ankle.start()
    ankle.publish(plan(seconds=20.0))
    ankle.controller_says('took 2')
    ankle.graph.wait(lambda: ankle.graph.value('ankle_pitch') > 0.03, 'motion')
    assert ankle.graph.end('node', signal.SIGTERM) == 0
    ankle.controller_says('took 1')
    assert 'Traceback' not in ankle.graph.log()
    assert 0.03 < ankle.graph.value('ankle_pitch') < 0.2


def test_groups_follow_commands_and_plans_together(ankle):
    """Each controller gets its motor, and the loops of the whole robot stay closed."""
    ankle.start_groups()
    graph = ankle.graph
    command = JointState(name=JOINTS, position=[0.2, -0.1])
    for motor in MOTORS:
        graph.wait(
            lambda motor=motor: graph.client.count_subscribers(
                f'/{motor}_controller/joint_trajectory'
            ),
            motor,
        )
    graph.publish(JointState, 'ik_node/joint_command', command, 1)
    graph.wait(lambda: abs(graph.value('ankle_pitch') - 0.2) < 1e-3, 'the pitch')
    graph.wait(lambda: abs(graph.value('ankle_roll') + 0.1) < 1e-3, 'the roll')
    ankle.publish(plan((0.0, 0.1), 1.0, start=(0.2, -0.1)))
    graph.wait(lambda: abs(graph.value('ankle_pitch')) < 1e-3, 'the pitch')
    graph.wait(lambda: abs(graph.value('ankle_roll') - 0.1) < 1e-3, 'the roll')
    for motor in MOTORS:
        assert 'took 20' in graph.log(motor)


@pytest.fixture
def acting(ankle):
    pytest.importorskip('control_msgs')
    return ankle


def test_plan_of_the_action_is_cancelled_with_the_node(acting):
    """At the controller, where it would go on."""
    acting.start()
    acting.send(plan(seconds=20.0))
    acting.graph.wait(lambda: acting.graph.value('ankle_pitch') > 0.03, 'motion')
    assert acting.graph.end('node') == 0
    acting.controller_says('cancelled')
    assert 'Traceback' not in acting.graph.log()


def test_plan_is_followed_and_cancelled_and_output_says_so(acting):
    acting.start()
    status, result = acting.follow(plan(seconds=0.5))
    assert (status, result.error_code) == (SUCCEEDED, 0), result.error_string
    assert acting.feedback[-1].feedback.joint_names == JOINTS
    acting.graph.wait(lambda: abs(acting.graph.value('ankle_pitch') - 0.3) < 1e-3, 'the end')
    handle = acting.send(plan((0.0, 0.0), 20.0, start=(0.3, 0.1)))
    note = 'a joint-space plan is under way'
    acting.graph.wait(lambda: note in acting.graph.row('output')[0], note)
    done = handle.cancel_goal_async()
    acting.graph.wait(done.done, 'the cancel')
    assert acting.result(handle)[0] == CANCELED
    acting.controller_says('cancelled')
    assert 'plan' not in acting.graph.row('output')[0]


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
def test_client_learns_that_the_controller_is_dead(acting, number):
    """Also of one that could not say goodbye, when the plan should have ended long ago."""
    acting.start()
    handle = acting.send(plan(seconds=3.0))
    acting.graph.wait(lambda: acting.graph.value('ankle_pitch') > 0.03, 'motion')
    acting.graph.end('controller', number)
    status, result = acting.result(handle)
    assert status == ABORTED
    assert 'is gone' in result.error_string or 'no result' in result.error_string
    assert 'plan' not in acting.graph.row('output')[0]


def test_signal_after_a_cancel_during_conversion_ends_the_node_cleanly(acting):
    """The plan is long enough that the cancel arrives before the controller has it."""
    acting.start('--nonzero-end')
    handle = acting.send(plan((0.4, 0.2), 100.0, 3000))
    done = handle.cancel_goal_async()
    acting.graph.wait(done.done, 'the cancel')
    assert acting.result(handle)[0] == CANCELED
    assert acting.graph.end('node') == 0
    assert 'Traceback' not in acting.graph.log()
    assert 'Unable to convert' not in acting.graph.log()

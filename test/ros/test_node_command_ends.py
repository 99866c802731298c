"""How commands end: drives that keep their last number get zeros. docs/drive_hardware.md."""

import os
import signal
import time

import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

MOTORS = ['motor_left', 'motor_right']
JOINTS = ['ankle_pitch', 'ankle_roll']
ZEROS = [0.0, 0.0]
JOG = {'velocity': [0.05, 0.02]}
# What is commanded, by the interface; both end by the same rule.
PARTS = {'velocity': JOG, 'effort': {'effort': [3.0, 1.0]}}


class Drives:
    """An ankle whose motors follow velocities or efforts, and somebody who commands it."""

    def __init__(self, graph, text):
        self.graph, self.text = graph, text
        graph.knows(text)
        self.numbers, self.trajectories = [], []
        client = graph.client
        client.create_subscription(Float64MultiArray, 'ik_node/commands', self.numbers.append, 500)
        client.create_subscription(
            JointTrajectory, 'ik_node/joint_trajectory', self.trajectories.append, 500
        )
        self.measured = client.create_publisher(JointState, 'joint_states', 1)
        self.commanded = client.create_publisher(JointState, 'ik_node/joint_command', 1)
        self.process = None

    def start(self, interface, *words, output='commands', source='actuated'):
        self.process = self.graph.start_node(
            *('-p', f'output.type:={output}', '-p', f'output.interface:={interface}'),
            *('-p', f'actuated_joints:=[{", ".join(MOTORS)}]', '-p', f'state_source:={source}'),
            *('-p', f'transmission.joints:=[{", ".join(JOINTS)}]', *words),
        )
        self.graph.describe(self.text)
        self.graph.wait(lambda: self.graph.statuses, 'the first tick')

    def measure(self, left=0.0, right=0.0):
        self.measured.publish(JointState(name=MOTORS, position=[left, right]))

    def command(self, **parts):
        self.commanded.publish(JointState(name=JOINTS, **parts))

    def move(self, parts):
        def moves():
            self.measure()
            self.command(**parts)
            return self.numbers and any(self.numbers[-1].data)

        self.graph.wait(moves, 'a command in motion')

    def last_numbers(self, measured=True):
        def rests():
            if measured:
                self.measure()
            return list(self.numbers[-1].data) == ZEROS

        self.graph.wait(rests, 'zeros')


@pytest.fixture
def drives(graph, urdf):
    return Drives(graph, urdf('ankle'))


@pytest.mark.parametrize(
    ('number', 'interface'), [(signal.SIGINT, 'velocity'), (signal.SIGTERM, 'effort')]
)
def test_drives_stop_when_the_node_ends(drives, interface, number):
    """The last messages are zeros, five because some may be lost, and the exit code is 0."""
    drives.start(interface)
    drives.move(PARTS[interface])
    assert drives.graph.end('node', number) == 0
    drives.graph.read_out(drives.numbers, 20)
    assert [list(each.data) for each in drives.numbers[-5:]] == 5 * [ZEROS]
    assert 'Traceback' not in drives.graph.log()


def test_trajectory_ends_at_rest_when_the_node_ends(drives):
    """A controller of velocities would move on at the velocity of the last point."""
    drives.start('position', output='both', source='solution')
    drives.move(JOG)
    drives.graph.wait(lambda: any(drives.trajectories[-1].points[-1].velocities), 'motion')
    drives.graph.end('node')
    drives.graph.read_out(drives.trajectories, 20)
    before, *_, end = (each.points[-1] for each in drives.trajectories[-6:])
    assert list(end.velocities) == ZEROS
    assert list(end.positions) == list(before.positions)


@pytest.mark.parametrize(
    ('interface', 'on_stale'), [('velocity', 'hold'), ('effort', 'stop'), ('effort', 'ignore')]
)
def test_drives_stop_when_the_sender_is_gone(drives, interface, on_stale):
    """Half a second after its last message, whatever `on_stale` says."""
    drives.start(interface, '-p', f'on_stale:={on_stale}')
    drives.move(PARTS[interface])
    drives.last_numbers()
    drives.graph.catch_up()
    assert list(drives.numbers[-1].data) == ZEROS


@pytest.mark.parametrize(('interface', 'on_stale'), [('effort', 'hold'), ('velocity', 'stop')])
def test_drives_stop_when_joint_states_are_dead(drives, interface, on_stale):
    """After `joint_state_timeout`, although the sender of commands goes on."""
    drives.start(interface, '-p', f'on_stale:={on_stale}', '-p', 'joint_state_timeout:=0.3')
    drives.move(PARTS[interface])

    def rests():
        drives.command(**PARTS[interface])
        return list(drives.numbers[-1].data) == ZEROS

    drives.graph.wait(rests, 'zeros')
    drives.graph.catch_up()
    assert rests()


@pytest.mark.parametrize(
    ('how', 'interface'),
    [
        *((how, 'velocity') for how in ('refusal', 'reset', 'interface', 'source')),
        *((how, 'effort') for how in ('pause', 'type', 'joints', 'description')),
    ],
)
def test_drives_stop_when_commands_end_while_the_node_runs(drives, urdf, interface, how):
    """The sender of the last command is gone as well, so nothing moves them again."""
    drives.start(interface)
    graph = drives.graph
    drives.move(PARTS[interface])
    drives.numbers.clear()
    if how == 'refusal':
        # Refused commands do not keep the one before in force.
        begin = time.monotonic()
        while time.monotonic() < begin + 1.0:
            drives.measure()
            drives.commanded.publish(JointState(name=['knee'], **{interface: [0.1]}))
            graph.turn()
    elif how == 'pause':
        graph.call(SetBool, 'ik_node/enable', SetBool.Request(data=False))
    elif how == 'reset':
        graph.call(Trigger, 'ik_node/reset', Trigger.Request())
    elif how == 'description':
        text = urdf('ankle')
        for name in MOTORS:
            text = text.replace(f'"{name}"', f'"{name}_2"')
        graph.knows(text)
        graph.set_parameters(actuated_joints=[''])
        graph.describe(text)
    else:
        values = {
            'type': {'output__type': 'none'},
            'interface': {'output__interface': 'position'},
            'joints': {'output__joints': MOTORS[:1]},
            'source': {'transmission__joints': ['']},
        }
        assert graph.set_parameters(**values[how]) == ''
    # After them there may be positions, or numbers of fewer motors.
    graph.wait(lambda: sum(list(each.data) == ZEROS for each in drives.numbers) >= 5, 'zeros')


@pytest.mark.parametrize('how', ['sender gone', 'goal disabled', 'goal removed', 'plan'])
def test_drives_stop_when_a_twist_or_goal_ends(drives, how):
    from geometry_msgs.msg import TwistStamped

    drives.start(
        'velocity',
        *('-p', 'goal_names:=[foot]', '-p', 'goals.foot.link:=foot_link', '-p', 'rate:=50.0'),
        *('-p', 'goals.foot.dof:=EX EY'),
        output='both',
        source='solution',
    )
    graph, twist = drives.graph, TwistStamped()
    twist.twist.angular.x = 0.02
    sender = graph.client.create_publisher(TwistStamped, 'ik_node/goals/foot/twist', 1)

    def moves():
        sender.publish(twist)
        if drives.trajectories:
            drives.measure(*drives.trajectories[-1].points[-1].positions)
        else:
            drives.measure()
        return drives.numbers and any(drives.numbers[-1].data)

    graph.wait(moves, 'a command in motion')
    if how == 'goal disabled':
        graph.call(SetBool, 'ik_node/goals/foot/enable', SetBool.Request(data=False))
    elif how == 'goal removed':
        assert graph.set_parameters(goal_names=['']) == ''
    elif how == 'plan':
        plan = JointTrajectory(joint_names=JOINTS, points=[JointTrajectoryPoint()])
        plan.points[0].positions, plan.points[0].time_from_start.sec = [0.1, 0.1], 100
        graph.publish(JointTrajectory, 'ik_node/joint_trajectory_command', plan, 1)
        graph.wait(lambda: len(drives.trajectories[-1].points[-1].accelerations), 'the plan')
    drives.last_numbers(measured=False)
    graph.catch_up()
    assert list(drives.numbers[-1].data) == ZEROS
    if how == 'plan':
        # Nothing stops the plan.
        assert len(drives.trajectories[-1].points[-1].accelerations)


def test_drives_stop_when_a_tick_fails(drives, tmp_path):
    (tmp_path / 'fail').mkdir()
    (tmp_path / 'fail' / 'sitecustomize.py').write_text(FAILING)
    with pytest.MonkeyPatch.context() as patch:
        folders = (str(tmp_path / 'fail'), os.environ.get('PYTHONPATH', ''))
        patch.setenv('PYTHONPATH', os.pathsep.join(filter(None, folders)))
        drives.start('velocity')
    drives.move(JOG)
    (tmp_path / 'fail' / 'now').touch()
    drives.last_numbers()
    drives.graph.wait(lambda: 'a tick failed' in drives.graph.log(), 'the log line')
    drives.command(**JOG)
    drives.graph.read_out(drives.numbers, 20)
    assert list(drives.numbers[-1].data) == ZEROS


# While the file `now` is beside this one, no tick finds a path.
FAILING = """
import pathlib, sys, threading
there = pathlib.Path(__file__).parent / 'now'
def patch():
    while 'ik_node.ros.control.hardware_output' not in sys.modules:
        threading.Event().wait(0.05)
    from ik_node.ros.control.hardware_output import HardwareOutput
    whole = HardwareOutput.command
    def command(self, *given):
        if there.exists():
            raise ValueError('a defect')
        return whole(self, *given)
    HardwareOutput.command = command
threading.Thread(target=patch, daemon=True).start()
"""


def test_drives_stop_while_simulated_time_stands_still(drives):
    from rosgraph_msgs.msg import Clock

    clock, ticks = drives.graph.client.create_publisher(Clock, '/clock', 10), [0]
    runs = [True]

    def tick():
        if runs[0]:
            ticks[0] += 1
            message = Clock()
            message.clock.sec, message.clock.nanosec = divmod(ticks[0] * 10_000_000, 10**9)
            clock.publish(message)

    timer = drives.graph.client.create_timer(0.01, tick)
    drives.start('velocity', '-p', 'use_sim_time:=true')
    drives.move(JOG)
    runs[0] = False
    drives.last_numbers()
    drives.graph.client.destroy_timer(timer)

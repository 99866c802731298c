"""How the process starts and ends."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from ik_node.gallery import gallery_item, NAMES
import numpy as np
import pytest
from support.waiting import PATIENCE
import yaml

pytest.importorskip('rclpy')

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_in_motion_ends_the_node_cleanly(graph, urdf, number):
    """The exit code is 0, and there is no traceback."""
    graph.knows(urdf('hexapod'))
    graph.start_node('-p', 'rate:=250.0')
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: len(graph.joint_states) > 10, 'joint states')
    assert graph.end('node', number) == 0
    assert 'Traceback' not in graph.log()


def test_moving_node_has_loaded_no_compiler_and_no_optimiser(graph, urdf):
    """Numba and LLVM build the library; SciPy's optimisers serve methods for comparison."""
    graph.knows(urdf('hexapod'))
    process = graph.start_node()
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: len(graph.joint_states) > 10, 'joint states')
    mapped = Path(f'/proc/{process.pid}/maps').read_text()
    assert 'libik_node.so' in mapped
    for name in ('llvmlite', 'numba', 'scipy/optimize'):
        assert name not in mapped, name


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_before_a_description_ends_the_node_cleanly(graph, number):
    """The exit code is 0, and there is no traceback."""
    graph.start_node()
    graph.wait(lambda: 'waiting for' in graph.log(), 'the first log line')
    assert graph.end('node', number) == 0
    assert 'Traceback' not in graph.log()


def test_second_signal_has_no_effect(graph):
    """Launch sends one to the process group and another one to the process."""
    process = graph.start_node()
    graph.wait(lambda: 'waiting for' in graph.log(), 'the first log line')
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.02)
    assert graph.end('node') == 0
    assert 'Traceback' not in graph.log()


# Runs the node's entry, or the command line's, with one import that takes for ever.
SLOW = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            print('importing', name, flush=True)
            for _ in range(10000):
                time.sleep(0.01)
sys.meta_path.insert(0, Slow())
if sys.argv[2] == 'ros':
    from ik_node.ros.main import main
    sys.exit(main(['ik_node']))
from ik_node.cli.main import main
sys.exit(main(['node', '--ros-args']))
"""


def test_signal_during_imports_ends_the_node_cleanly():
    """The exit code is 0, and there is no traceback."""
    for number in [signal.SIGINT, signal.SIGTERM]:
        for module, entry in [
            ('rclpy', 'ros'),
            ('ik_node.solver.solver', 'ros'),
            ('numpy', 'cli'),
            ('ik_node.solver.solver', 'cli'),
        ]:
            process = subprocess.Popen(
                [sys.executable, '-c', SLOW, module, entry],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert process.stdout.readline() == f'importing {module}\n'
            process.send_signal(number)
            assert process.communicate(timeout=PATIENCE)[0] == ''
            assert process.returncode == 0


# Runs the node's entry, or the command line's, as if a module were not installed, or as if the
# middleware failed after a second.
MISSING = """
import sys
sys.modules[sys.argv[1]] = None
if sys.argv[2] == 'ros':
    from ik_node.ros.main import main
    sys.exit(main(['ik_node']))
from ik_node.cli.main import main
sys.exit(main(['node', '--ros-args']))
"""
FAILING = """
import sys, time
import rclpy.publisher
from ik_node.ros.main import main
class RCLError(RuntimeError):
    pass
RCLError.__module__ = 'rclpy._rclpy_pybind11'
whole = rclpy.publisher.Publisher.publish
def publish(self, message):
    if type(message).__name__ == 'DiagnosticArray':
        raise RCLError('Failed to publish: out\\nof memory')
    whole(self, message)
rclpy.publisher.Publisher.publish = publish
sys.exit(main(['ik_node']))
"""


@pytest.mark.parametrize('entry', ['ros', 'cli'])
@pytest.mark.parametrize('module', ['rclpy', 'sensor_msgs'])
def test_missing_ros_is_one_line(module, entry):
    """The exit code is 2; the line names the missing package and what to do."""
    words = [sys.executable, '-c', MISSING, module, entry]
    run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 2
    assert run.stderr.count('\n') == 1
    assert module in run.stderr
    assert 'source a ROS 2 installation' in run.stderr


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['-r', '__node:=' + 'n' * 300], 'node name'),
        (['-r', '__ns:=/' + 'n' * 240], 'name'),
        (['-p', 'qos_overrides./joint_states.subscription.reliability:=perhaps'], 'perhaps'),
    ],
)
def test_start_refused_by_ros_is_one_line(graph, words, reason):
    """The exit code is 2, and there is no traceback."""
    process = graph.start_node(*words)
    assert process.wait(60) == 2
    assert graph.log().count('ik_node: cannot start: ') == 1
    assert reason in graph.log()
    assert 'Traceback' not in graph.log()


def test_an_error_of_the_middleware_is_one_line(graph, tmp_path):
    """The exit code is 1 while running, so that a supervisor can start the node again."""
    words = [sys.executable, '-c', FAILING]
    run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 1
    assert 'ik_node: ended: Failed to publish: out of memory\n' in run.stderr
    assert 'Traceback' not in run.stderr


# The node's entry, watched by who counts what the garbage collector no longer looks at.
WATCHED = """
import gc, sys
from ik_node.ros.main import main
from ik_node.ros.process.signals import EndSignals
whole = EndSignals.spin
def spin(self, executor):
    print('the node spins', flush=True)
    whole(self, executor)
EndSignals.spin = spin
code = main(['ik_node', '--ros-args', '-p', 'rate:=50.0'])
print('settled', gc.get_freeze_count() if gc.isenabled() else 'disabled', flush=True)
sys.exit(code)
"""


def last_robot(graph, name):
    """Return the robot that a node was ready with last: it may have begun with a latched one."""
    return graph.log(name).rpartition('ready: robot ')[2].partition(',')[0]


def test_memory_is_frozen_with_each_model(graph, urdf, tmp_path):
    """Long-lived objects cost no tick a scan by the garbage collector."""
    (tmp_path / 'watched_node.py').write_text(WATCHED)
    counts = []
    for robots in ((), ('fivebar',), ('hexapod', 'fivebar')):
        name = '-'.join(('node', *robots))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv('PYTHONPATH', os.pathsep.join((str(tmp_path), *sys.path)))
            graph.start(name, 'watched_node')
        graph.wait(lambda name=name: 'the node spins' in graph.log(name), 'the node')
        for robot in robots:
            graph.describe(urdf(robot))
            graph.wait(lambda name=name, robot=robot: last_robot(graph, name) == robot, robot)
        assert graph.end(name) == 0
        counts.append(int(graph.log(name).partition('settled ')[2]))
    # What was imported, then what was made for the robot; the robot before is not kept.
    assert counts[0] > 50_000
    assert counts[1] > counts[0] + 1000
    assert counts[2] < 1.05 * counts[1]


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['-p', 'rate:=-1.0'], 'rate: -1.0 cannot be used'),
        (['-p', 'rate:=fast'], "rate: 'fast' cannot be used"),
        (['-p', 'solver.restarts:=1.5'], 'solver.restarts: 1.5 cannot be used'),
        (['-p', 'goal_names:=[a.b]'], 'without dots'),
        (['-r', 'ik_node/joint_states:=joint_states'], 'itself publishes'),
        (['-p', 'rate:={a: b'], 'cannot start'),
        (['rate:=50'], 'write -p rate:=50 if rate is a parameter'),
        (['-p', 'frame_prefix:=/left/'], 'which tf2 refuses: left/'),
    ],
)
def test_bad_start_is_one_fatal_line(graph, words, reason):
    """The exit code is 2; the line has parameter, value and what is allowed."""
    process = graph.start('node', 'ik_node', 'node', '--ros-args', *words)
    assert process.wait(PATIENCE) == 2
    graph.processes.clear()
    assert reason in graph.log()
    assert 'Traceback' not in graph.log()


@pytest.mark.parametrize(
    ('line', 'words'),
    [
        ('goals: {pen: {link: pen_link, dof: Y}}', 'goals.pen.dof: True cannot be used'),
        ('goals: {pen: {link: N}}', 'goals.pen.link: False cannot be used'),
        ('goals: {pen: {link: on}}', 'goals.pen.link: True cannot be used'),
        ('locked_joints: [y, n]', 'locked_joints: [True, False] cannot be used'),
        ('base_frame: 1', 'base_frame: 1 cannot be used'),
    ],
)
def test_unquoted_y_in_a_file_is_a_fatal_line(graph, tmp_path, line, words):
    """ROS reads it as true: the line says to quote it."""
    parameters = tmp_path / 'parameters.yaml'
    parameters.write_text(f'/**:\n  ros__parameters:\n    goal_names: [pen]\n    {line}\n')
    words_of_ros = ('--ros-args', '--params-file', str(parameters))
    process = graph.start('node', 'ik_node', 'node', *words_of_ros)
    assert process.wait(PATIENCE) == 2
    graph.processes.clear()
    assert words in graph.log()
    assert "in quotes, as 'Y': without them ROS reads Y" in graph.log()
    assert 'Traceback' not in graph.log()


def test_list_of_axes_in_a_file_is_answered_by_how_to_write_them(graph, tmp_path):
    """ROS reads Y in a list as true, and refuses the whole file."""
    parameters = tmp_path / 'parameters.yaml'
    goals = 'goals: {pen: {link: pen_link, dof: [X, Y, Z]}}'
    parameters.write_text(f'/**:\n  ros__parameters:\n    goal_names: [pen]\n    {goals}\n')
    words_of_ros = ('--ros-args', '--params-file', str(parameters))
    process = graph.start('node', 'ik_node', 'node', *words_of_ros)
    assert process.wait(PATIENCE) == 2
    graph.processes.clear()
    assert "write axes as one text, dof: 'X Y Z'" in graph.log()
    assert 'Traceback' not in graph.log()


def test_parameter_file_for_other_nodes_is_one_warning(graph, tmp_path):
    """A file for this node, in any of the forms that ROS takes, is none."""
    heads = ['/**', '/*', 'ik_node', '/ik_node', '/**/ik_node', 'other', '/left/ik_node']
    words = []
    for at, head in enumerate(heads):
        path = tmp_path / f'{at}.yaml'
        path.write_text(f'{head}:\n  ros__parameters:\n    rate: 50.0\n')
        words += ['--params-file', str(path)]
    graph.start_node(*words)
    # The last file comes last.
    graph.wait(lambda: f'{tmp_path / "6.yaml"}: it has' in graph.log(), 'the last warning')
    assert graph.log().count('so it changes nothing') == 2
    for at, name in ((5, '/other'), (6, '/left/ik_node')):
        line = f'{tmp_path / str(at)}.yaml: it has parameters for {name}, none for /ik_node'
        assert line in graph.log()


def test_rest_pose_in_a_file_may_be_a_mapping(graph, urdf, tmp_path):
    """ROS reads each joint as a parameter of its own; a joint that the robot lacks is named."""
    parameters = tmp_path / 'parameters.yaml'
    pose = 'rest_pose: {left_shoulder: 0.1, elbow: 0.2}'
    parameters.write_text(f'/**:\n  ros__parameters:\n    {pose}\n')
    graph.knows(urdf('fivebar'))
    graph.start_node('--params-file', str(parameters))
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: graph.joint_states, 'joint states')
    assert 'does not exist' not in graph.log()
    assert 'rest_pose: robot fivebar has no joint elbow; the other joints are used' in graph.log()


def test_commands_of_senders_with_best_effort_are_received(graph, urdf):
    """Programs of teleoperation often send so."""
    from geometry_msgs.msg import TwistStamped
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    graph.knows(urdf('fivebar'))
    goal = ('-p', 'goal_names:=[pen]', '-p', 'goals.pen.link:=tool_link')
    graph.start_node(*goal, '-p', "goals.pen.dof:='X Y'")
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: graph.joint_states, 'joint states')
    for topic in ('goals/pen/twist', 'joint_command'):
        found = graph.client.get_subscriptions_info_by_topic(f'/ik_node/{topic}')
        kinds = [each.qos_profile.reliability for each in found]
        assert kinds == [ReliabilityPolicy.BEST_EFFORT], topic
    qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    sender = graph.client.create_publisher(TwistStamped, 'ik_node/goals/pen/twist', qos)
    still = np.array(graph.joint_states[-1].position)
    twist = TwistStamped()
    twist.twist.linear.x = 0.02

    def moves():
        sender.publish(twist)
        return np.abs(graph.joint_states[-1].position - still).max() > 1e-3

    graph.wait(moves, 'motion')


def test_empty_list_means_the_default(graph, urdf, tmp_path):
    """ROS cannot derive the type of `[]`, in a file or as an argument."""
    parameters = tmp_path / 'p.yaml'
    lists = ''.join(f'    {name}: []\n' for name in ('locked_joints', 'actuated_joints'))
    parameters.write_text(f'/**:\n  ros__parameters:\n{lists}    goal_names: []\n')
    graph.knows(urdf('fivebar'))
    graph.start_node('--params-file', str(parameters), '-p', 'output.joints:=[]')
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: len(graph.joint_states) > 5, 'joint states')
    assert 'Traceback' not in graph.log()


def test_misspelt_parameter_is_logged(graph):
    """The line has the nearest name, and the node runs."""
    graph.start_node(
        '-p', 'solver.max_iteration:=50', '-p', 'goals.hand.link:=tip', '-p', 'rate:=50'
    )
    graph.wait(lambda: 'waiting for' in graph.log(), 'the node')
    assert 'did you mean solver.max_iterations?' in graph.log()
    assert 'goals.hand.link does not exist: its goal is not in goal_names' in graph.log()


def test_description_parameter_takes_precedence(graph, urdf, tmp_path):
    """The topic is ignored."""
    graph.knows(urdf('fivebar'))
    text = ' '.join(urdf('fivebar').split()).replace("'", '"')
    parameters = tmp_path / 'p.yaml'
    parameters.write_text(
        f"/**:\n  ros__parameters:\n    robot_description: '{text}'\n    rate: 50.0\n"
    )
    graph.start_node('--params-file', str(parameters))
    graph.wait(lambda: len(graph.joint_states) > 5, 'joint states')
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: 'the parameter of that name is set' in graph.log(), 'the log line')
    graph.spin(10)


def test_description_with_missing_joint_is_refused(graph, urdf):
    """The reason names parameter and joint; a corrected parameter tries it again."""
    graph.knows(urdf('fivebar'))
    graph.start_node('-p', 'locked_joints:=[nose]')
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: "locked_joints: 'nose' cannot be used" in graph.log(), 'the reason')
    assert 'left_shoulder' in graph.log()
    assert graph.joint_states == []
    assert graph.set_parameters(locked_joints=['left_shoulder']) == ''
    graph.wait(lambda: graph.joint_states, 'joint states')


def test_demo_sets_the_parameters_of_the_gallery():
    """They are rate, goals, links and axes, as in config/NAME.yaml."""
    for name in NAMES:
        from ik_node.ros_client.demo.run_demo import node_words

        item = gallery_item(name)
        words = node_words(item, 250.0)
        assert words[::2] == ['-p'] * (len(words) // 2)
        values = {key: yaml.safe_load(text) for key, text in (w.split(':=') for w in words[1::2])}
        assert values == {'rate': 250.0, **item.parameters}


@pytest.mark.parametrize('name', ['hexapod', 'gripper'])
def test_demo_prints_a_line_per_second(graph, name):
    """It runs three processes and ends with exit code 0."""
    process = graph.start('demo', 'ik_node', 'demo', name, '--seconds', '5')
    assert process.wait(PATIENCE) == 0, graph.log('demo')
    lines = [line for line in graph.log('demo').splitlines() if ' Hz ' in line]
    assert len(lines) >= 2
    for line in lines:
        assert 'CONVERGED' in line
        loops = float(line.split('loops <= ')[1].split()[0])
        assert loops <= 1e-6
    graph.processes.clear()

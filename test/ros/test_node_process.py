"""How the process starts and ends."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from ik_node.gallery import gallery_item, NAMES
import pytest
from support.waiting import PATIENCE
import yaml


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_moving_node_needs_no_compiler_and_ends_cleanly_with_a_signal(graph, urdf, number):
    """Numba and LLVM build the library; SciPy's optimisers serve methods for comparison."""
    graph.start_robot(urdf('hexapod'), rate=250.0)
    graph.wait(lambda: len(graph.joint_states) > 10, 'joint states')
    mapped = Path(f'/proc/{graph.processes["node"].pid}/maps').read_text()
    assert 'libik_node.so' in mapped
    for name in ('llvmlite', 'numba', 'scipy/optimize'):
        assert name not in mapped, name
    assert graph.end('node', number) == 0
    assert 'Traceback' not in graph.log()


def test_second_signal_has_no_effect(graph):
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


@pytest.mark.parametrize(
    ('number', 'module', 'entry'),
    [
        (signal.SIGINT, 'rclpy', 'ros'),
        (signal.SIGTERM, 'ik_node.solver.solver', 'ros'),
        (signal.SIGINT, 'numpy', 'cli'),
    ],
)
def test_signal_during_imports_ends_the_node_cleanly(number, module, entry):
    words = [sys.executable, '-c', SLOW, module, entry]
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
    process = subprocess.Popen(words, text=True, **pipes)
    assert process.stdout.readline() == f'importing {module}\n'
    process.send_signal(number)
    assert process.communicate(timeout=PATIENCE)[0] == ''
    assert process.returncode == 0


# Runs the node's entry, or the command line's, as if a module were not installed.
MISSING = """
import sys
sys.modules[sys.argv[1]] = None
if sys.argv[2] == 'ros':
    from ik_node.ros.main import main
    sys.exit(main(['ik_node']))
from ik_node.cli.main import main
sys.exit(main(['node', '--ros-args']))
"""


@pytest.mark.parametrize(('module', 'entry'), [('rclpy', 'ros'), ('sensor_msgs', 'cli')])
def test_missing_ros_is_one_line(module, entry):
    words = [sys.executable, '-c', MISSING, module, entry]
    run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 2
    assert run.stderr.count('\n') == 1
    assert module in run.stderr
    assert 'source a ROS 2 installation' in run.stderr


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['-p', 'rate:=-1.0'], 'rate: -1.0 cannot be used'),
        (['-r', 'ik_node/joint_states:=joint_states'], 'itself publishes'),
        (['-p', 'robot_file:=/gone.urdf'], '/gone.urdf: cannot be read: No such file'),
        (['-p', 'rate:={a: b'], 'cannot start'),
        (['rate:=50'], 'write -p rate:=50 if rate is a parameter'),
        (['-p', 'qos_overrides./joint_states.subscription.reliability:=perhaps'], 'perhaps'),
        # ROS reads an unquoted y in a file as true, and refuses lists with one altogether.
        ('goals: {pen: {link: pen_link, dof: Y}}', 'goals.pen.dof: True cannot be used'),
        ('goals: {pen: {link: pen_link, dof: [X, Y]}}', "write axes as one text, dof: 'X Y Z'"),
    ],
)
def test_bad_start_is_one_fatal_line(graph, tmp_path, words, reason):
    if isinstance(words, str):
        file = tmp_path / 'parameters.yaml'
        file.write_text(f'/**:\n  ros__parameters:\n    goal_names: [pen]\n    {words}\n')
        words = ['--params-file', str(file)]
    process = graph.start('node', 'ik_node', 'node', '--ros-args', *words)
    assert process.wait(PATIENCE) == 2
    graph.processes.clear()
    assert reason in graph.log()
    assert 'Traceback' not in graph.log()


def test_parameters_without_effect_are_warned_of(graph, tmp_path):
    """In files for other nodes, with wrong names, or of goals that are not named."""
    heads = ['/**', '/*', 'ik_node', '/ik_node', '/**/ik_node', 'other', '/left/ik_node']
    words = []
    for at, head in enumerate(heads):
        path = tmp_path / f'{at}.yaml'
        path.write_text(f'{head}:\n  ros__parameters:\n    rate: 50.0\n')
        words += ['--params-file', str(path)]
    words += ['-p', 'solver.max_iteration:=50', '-p', 'goals.hand.link:=tip']
    graph.start_node(*words)
    # The last file comes last.
    graph.wait(lambda: f'{tmp_path / "6.yaml"}: it has' in graph.log(), 'the last warning')
    assert graph.log().count('so it changes nothing') == 2
    for at, name in ((5, '/other'), (6, '/left/ik_node')):
        line = f'{tmp_path / str(at)}.yaml: it has parameters for {name}, none for /ik_node'
        assert line in graph.log()
    graph.wait(lambda: 'waiting for' in graph.log(), 'the node')
    assert 'solver.max_iteration does not exist: see --help for all parameters' in graph.log()
    assert 'goals.hand.link does not exist: its goal is not in goal_names' in graph.log()


def test_rest_pose_in_a_file_may_be_a_mapping_and_lists_may_be_empty(graph, urdf, tmp_path):
    """ROS reads each joint as a parameter of its own, and cannot derive the type of `[]`."""
    parameters = tmp_path / 'parameters.yaml'
    rows = ['rest_pose: {left_shoulder: 0.1, elbow: 0.2}', 'locked_joints: []', 'goal_names: []']
    parameters.write_text('/**:\n  ros__parameters:\n' + ''.join(f'    {row}\n' for row in rows))
    words = ('--params-file', str(parameters), '-p', 'output.joints:=[]')
    graph.start_robot(urdf('fivebar'), *words)
    assert 'does not exist' not in graph.log()
    assert 'Traceback' not in graph.log()
    assert 'rest_pose: robot fivebar has no joint elbow; the other joints are used' in graph.log()


def test_demo_sets_the_parameters_of_the_gallery():
    for name in NAMES:
        from ik_node.ros_client.run_demo import node_words

        item = gallery_item(name)
        words = node_words(item, 250.0)
        assert words[::2] == ['-p'] * (len(words) // 2)
        values = {key: yaml.safe_load(text) for key, text in (w.split(':=') for w in words[1::2])}
        assert values == {'rate': 250.0, **item.parameters}


def test_demo_prints_a_line_per_second(graph):
    process = graph.start('demo', 'ik_node', 'demo', 'gripper', '--seconds', '5')
    assert process.wait(PATIENCE) == 0, graph.log('demo')
    lines = [line for line in graph.log('demo').splitlines() if ' Hz ' in line]
    assert len(lines) >= 2
    for line in lines:
        assert 'CONVERGED' in line
        loops = float(line.split('loops <= ')[1].split()[0])
        assert loops <= 1e-6
    graph.processes.clear()

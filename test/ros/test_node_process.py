"""How the process starts and ends."""

import signal

import pytest

pytest.importorskip('rclpy')

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_ends_cleanly_while_it_works(graph, urdf, number):
    """A signal in full motion ends it with exit code 0 and without a traceback."""
    graph.knows(urdf('hexapod'))
    graph.start_node('-p', 'rate:=250.0')
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: len(graph.joint_states) > 10, 'joint states')
    assert graph.end('node', number) == 0
    assert 'Traceback' not in graph.log()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_ends_cleanly_while_it_waits(graph, number):
    """Also before any description has come."""
    graph.start_node()
    graph.wait(lambda: 'waiting for' in graph.log(), 'the first log line')
    assert graph.end('node', number) == 0
    assert 'Traceback' not in graph.log()


@pytest.mark.parametrize(
    ('words', 'reason'),
    [
        (['-p', 'rate:=-1.0'], 'rate: -1.0 is not allowed'),
        (['-p', 'rate:=fast'], "rate: 'fast' is not allowed"),
        (['-p', 'solver.restarts:=1.5'], 'solver.restarts: 1.5 is not allowed'),
        (['-p', 'goal_names:=[a.b]'], 'without dots'),
        (['-r', 'ik_node/joint_states:=joint_states'], 'hear itself'),
        (['-p', 'rate:={a: b'], 'cannot start'),
    ],
)
def test_bad_start_is_one_fatal_line(graph, words, reason):
    """Exit code 2, the parameter with its value and what is allowed, no traceback."""
    process = graph.start('node', 'ik_node', 'node', '--ros-args', *words)
    assert process.wait(60) == 2
    graph.processes.clear()
    assert reason in graph.log()
    assert 'Traceback' not in graph.log()


def test_misspelt_parameters_are_named(graph):
    """An override that does not exist is told, with the nearest name; the node runs."""
    graph.start_node(
        '-p', 'solver.max_iteration:=50', '-p', 'goals.hand.link:=tip', '-p', 'rate:=50'
    )
    graph.wait(lambda: 'waiting for' in graph.log(), 'the node')
    assert 'did you mean solver.max_iterations?' in graph.log()
    assert 'goals.hand.link does not exist: its goal is not in goal_names' in graph.log()


def test_description_as_a_parameter(graph, urdf, tmp_path):
    """The parameter comes before the topic."""
    graph.knows(urdf('fivebar'))
    text = ' '.join(urdf('fivebar').split()).replace("'", '"')
    parameters = tmp_path / 'p.yaml'
    parameters.write_text(
        f"/**:\n  ros__parameters:\n    robot_description: '{text}'\n    rate: 50.0\n"
    )
    graph.start_node('--params-file', str(parameters))
    graph.wait(lambda: len(graph.joint_states) > 5, 'joint states')
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: 'the parameter is set' in graph.log(), 'the log line')
    graph.spin(10)


def test_a_description_that_does_not_fit_the_parameters(graph, urdf):
    """It is refused with the parameter and the joint; set right, it is tried again."""
    graph.knows(urdf('fivebar'))
    graph.start_node('-p', 'locked_joints:=[nose]')
    graph.describe(urdf('fivebar'))
    graph.wait(lambda: "locked_joints: 'nose' is not allowed" in graph.log(), 'the reason')
    assert 'left_shoulder' in graph.log()
    assert graph.joint_states == []
    assert graph.set_parameters(locked_joints=['left_shoulder']) == ''
    graph.wait(lambda: graph.joint_states, 'joint states')


def test_demo(graph):
    """The demo runs its three processes, prints a line a second and ends with exit code 0."""
    process = graph.start('demo', 'ik_node', 'demo', 'hexapod', '--seconds', '2.5')
    assert process.wait(120) == 0, graph.log('demo')
    lines = [line for line in graph.log('demo').splitlines() if ' Hz ' in line]
    assert len(lines) >= 2
    for line in lines:
        assert 'CONVERGED' in line
        loops = float(line.split('loops <= ')[1].split()[0])
        assert loops <= 1e-6
    graph.processes.clear()

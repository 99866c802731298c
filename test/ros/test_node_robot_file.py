"""The node reads a file that is named at its start."""

import re
import subprocess

from ik_node.robot import load_robot
import pytest


@pytest.fixture
def file(tmp_path, urdf):
    """Return a file with a five-bar, in a folder whose name has to be quoted."""
    path = tmp_path / "o'hara: robots" / 'bars.urdf'
    path.parent.mkdir()
    path.write_text(urdf('fivebar'))
    return path


def descriptions(graph):
    from ik_node.ros.process import LATCHED
    from std_msgs.msg import String

    texts = []
    graph.client.create_subscription(
        String, 'robot_description', lambda message: texts.append(message.data), LATCHED
    )
    return texts


def test_node_reads_a_file_and_publishes_its_description(graph, file, urdf):
    """The description has the loops, so that the page and RViz need no file."""
    from sensor_msgs.msg import JointState

    watched = graph.knows(urdf('fivebar'))
    texts = descriptions(graph)
    # The command of the node need not be named; a file alone says which commands there are.
    graph.start('node', 'ik_node', str(file), '--ros-args', '-p', 'rate:=50.0')
    graph.client.create_subscription(JointState, 'ik_node/joint_states', graph._on_joints, 200)
    graph.wait(lambda: len(graph.joint_states) > 5 and texts, 'joint states and a description')
    assert 'goals: none; goal_names creates some, or the page: `ik_node view --ros`' in graph.log()
    assert {*load_robot(texts[0]).closures} == {*watched.robot.closures} != set()
    # The node hears what it publishes.
    count = len(graph.joint_states)
    graph.wait(lambda: len(graph.joint_states) > count + 20, 'more joint states')
    assert 'ignored' not in graph.log()
    graph.describe(urdf('hexapod'))
    line = 'topic robot_description ignored: the parameter robot_file is set'
    graph.wait(lambda: line in graph.log(), 'the log line')
    assert graph.log().count('ready: robot') == 1
    run = subprocess.run(['ik_node', str(file)], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert f'ik_node check {file}' in run.stderr


def test_file_may_be_named_by_a_url(graph, file, urdf):
    watched = graph.knows(urdf('fivebar'))
    url = file.as_uri()
    assert '%20' in url
    graph.start_node('-p', f'robot_file:="{url}"')
    graph.wait(lambda: graph.joint_states, 'joint states')
    assert len(graph.joint_states[-1].name) == len(watched.robot.joint_names)
    graph.end('node')
    graph.joint_states.clear()
    graph.start_node('-p', 'robot_file:=package://ik_node/urdf/fivebar.urdf')
    graph.wait(lambda: graph.joint_states, 'joint states')


def test_file_cannot_be_named_over_the_network(graph, file, urdf):
    """A xacro file runs code, so only the one who starts the node chooses it."""
    graph.knows(urdf('fivebar'))
    graph.start_node('-p', f'robot_file:="{file}"')
    graph.wait(lambda: graph.joint_states, 'joint states')
    evil = file.with_name('evil.urdf.xacro')
    trace = file.with_name('trace')
    evil.write_text(
        '<robot name="evil" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f"<link name=\"${{open('{trace}', 'w')}}\"/></robot>"
    )
    assert 'read-only' in graph.set_parameters(robot_file=str(evil))
    assert 'read-only' in graph.set_parameters(robot_file='')
    said = graph.set_parameters(robot_description=urdf('hexapod'))
    assert "use '' while robot_file is set" in said
    graph.catch_up()
    assert not trace.exists()
    assert graph.log().count('ready: robot') == 1


def test_xacro_file_is_expanded(graph, file, urdf):
    """The file was chosen by the one who starts the node, like on a command line."""
    pytest.importorskip('xacro')
    head = '<robot name="bars" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    text = urdf('fivebar')
    xacro = file.with_name('bars.urdf.xacro')
    xacro.write_text(re.sub('<robot.*?>', head, text, count=1, flags=re.DOTALL))
    graph.knows(text)
    graph.start_node('-p', f'robot_file:="{xacro}"')
    graph.wait(lambda: graph.joint_states, 'joint states')

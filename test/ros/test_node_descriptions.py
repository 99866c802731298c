"""Descriptions that arrive late, broken, twice, or of another robot in the middle of a motion."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

pytestmark = pytest.mark.ros

BOX = '<robot name="box"><link name="platform_link"/></robot>'
OPEN = """<robot name="open"><link name="platform_link"/><link name="a"/>
  <joint name="j" type="prismatic"><parent link="platform_link"/><child link="a"/>
    <axis xyz="1 0 0"/><limit lower="0" upper="0.1" effort="1" velocity="1"/></joint>
  <loop_joint name="far" type="spherical"><link1 link="a" xyz="0 0 0"/>
    <link2 link="platform_link" xyz="0 5 0"/></loop_joint></robot>"""


@pytest.fixture(scope='module')
def bench(lasting_graph, urdf):
    """Provide the graph with a node that has a goal for platform_link and no robot yet."""
    graph = lasting_graph
    graph.knows(urdf('hexapod'))
    graph.other = urdf('fivebar').replace('tool_link', 'platform_link')
    graph.knows(graph.other)
    graph.start_node(
        '-p',
        'rate:=100.0',
        '-p',
        'goal_names:=[platform]',
        '-p',
        'goals.platform.link:=platform_link',
    )
    return graph


def model(graph):
    """Return the message of the diagnostic on the model."""
    status = graph.diagnostics.get('ik_node: model')
    return status.message if status else ''


def name_of(graph):
    """Return the number of joints of the last joint state."""
    return len(graph.joint_states[-1].name) if graph.joint_states else 0


def go(graph, text, urdf_names):
    """Publish a description and wait for joint states of that robot."""
    graph.describe(text)
    graph.wait(
        lambda: graph.joint_states and set(urdf_names) <= set(graph.joint_states[-1].name),
        'joint states of the robot',
    )


def test_waiting_is_told(bench):
    """Without a description: a log line, a diagnostic, no joint states."""
    bench.wait(lambda: 'waiting' in model(bench), 'the diagnostic')
    assert 'waiting for /robot_description' in bench.log()
    assert bench.joint_states == []


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('this is no XML', 'begins with <'),
        ('<robot name="half"><link', ''),
        (BOX, 'no movable joint'),
        (OPEN, 'cannot be closed'),
    ],
)
def test_bad_description_is_refused(bench, urdf, text, words):
    """One log line and a diagnostic say why; a good one that comes later is taken."""
    lines = bench.log().count('robot_description refused')
    bench.diagnostics.clear()
    bench.describe(text)
    bench.wait(lambda: 'refused' in model(bench) or 'no model' in model(bench), 'the refusal')
    assert bench.log().count('robot_description refused') == lines + 1
    assert words in model(bench)
    go(bench, urdf('hexapod'), ['leg0'])
    bench.wait(lambda: model(bench) == 'robot hexapod', 'the good model')


def test_missing_goal_link_is_refused(bench, urdf):
    """The running robot stays, and the reason names parameter, link and links there are."""
    go(bench, urdf('hexapod'), ['leg0'])
    bench.describe(urdf('fivebar'))
    bench.wait(lambda: 'refused' in model(bench), 'the refusal')
    assert "goals.platform.link: 'platform_link'" in model(bench)
    assert 'tool_link' in model(bench)
    seen = len(bench.joint_states)
    bench.spin(20)
    assert all('leg0' in message.name for message in bench.joint_states[seen:])


def test_bad_description_does_not_stop_a_motion(bench, urdf):
    """Goals are followed before, during and after the refusal."""
    go(bench, urdf('hexapod'), ['leg0'])
    watched = bench.robots[0]
    home = watched.robot.forward(watched.robot.q, 'platform_link')[:3, 3]
    for step in range(30):
        wanted = home + np.array([0.0001 * step, 0, 0])
        bench.send_goal('platform', wanted)
        if step == 10:
            bench.describe('<robot')
        bench.spin(2)

    def off():
        q = np.array(bench.joint_states[-1].position)
        return np.linalg.norm(watched.robot.forward(q, 'platform_link')[:3, 3] - wanted)

    bench.wait(lambda: off() < 2e-6, 'the last goal')
    bench.wait(lambda: 'going on with hexapod' in model(bench), 'the diagnostic')


def test_another_robot_takes_over_in_motion(bench, urdf):
    """With its loops inside its description; the goal of the same name moves its link."""
    go(bench, urdf('hexapod'), ['leg0'])
    other = bench.robots[1]
    home = other.robot.forward(other.robot.q, 'platform_link')[:3, 3]
    assert bench.set_parameters(goals__platform__dof='X Y') == ''
    bench.describe(bench.other)
    wanted = home
    for step in range(200):
        wanted = home + np.array([0.0002 * min(step, 50), 0, 0])
        bench.send_goal('platform', wanted)
        bench.spin(1)
        if step > 50 and 'left_elbow' in bench.joint_states[-1].name:
            break

    def off():
        message = bench.joint_states[-1]
        if bench.robot_of(message) is not other:
            return 1.0
        reached = other.robot.forward(np.array(message.position), 'platform_link')[:3, 3]
        return np.linalg.norm((reached - wanted)[:2])

    bench.wait(lambda: off() < 2e-6, 'the five-bar at its goal')
    assert bench.set_parameters(goals__platform__dof='X Y Z EX EY EZ') == ''
    go(bench, urdf('hexapod'), ['leg0'])


def test_same_description_again(bench, urdf):
    """A publisher that is restarted does not disturb: no new model, no jump."""
    go(bench, urdf('hexapod'), ['leg0'])
    ready = bench.log().count('ready: robot')
    bench.describe(urdf('hexapod'))
    bench.wait(lambda: 'came again unchanged' in bench.log(), 'the log line')
    bench.spin(10)
    assert bench.log().count('ready: robot') == ready

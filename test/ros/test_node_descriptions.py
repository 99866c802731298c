"""Descriptions that arrive late, broken, twice, or of another robot in the middle of a motion."""

import pytest

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
    status = graph.diagnostics.get('ik_node: model')
    return status.message if status else ''


def go(graph, text, urdf_names):
    graph.describe(text)
    graph.wait(
        lambda: graph.joint_states and set(urdf_names) <= set(graph.joint_states[-1].name),
        'joint states of the robot',
    )


@pytest.mark.parametrize(
    ('text', 'words'), [(BOX, 'no movable joint'), (OPEN, 'cannot be closed')]
)
def test_bad_description_is_refused(bench, urdf, text, words):
    """One log line and a diagnostic have the reason; a later valid one is accepted."""
    lines = bench.log().count('robot_description refused')
    bench.describe(text)
    bench.wait(
        lambda: bench.log().count('robot_description refused') == lines + 1, 'the line in the log'
    )
    told = bench.row('model')[0]
    assert 'refused' in told or 'no model' in told
    assert words in told
    go(bench, urdf('hexapod'), ['leg0'])
    bench.wait(lambda: model(bench) == 'robot hexapod', 'the good model')


@pytest.mark.parametrize('length', [230, 5000])
def test_closure_name_too_long_for_its_service_is_refused(bench, urdf, length):
    from std_srvs.srv import SetBool

    go(bench, urdf('hexapod'), ['leg0'])
    bench.wait(lambda: model(bench) == 'robot hexapod', 'the good model')
    long = urdf('hexapod').replace('leg0_ball', 'b' * length)
    bench.describe(long.replace('robot name="hexapod"', 'robot name="longer"'))
    bench.wait(lambda: 'refused' in model(bench), 'the refusal')
    assert 'closure name' in model(bench)
    assert '247' in model(bench)
    bench.spin(20)
    request = SetBool.Request(data=True)
    assert bench.call(SetBool, 'ik_node/closures/leg0_ball/enable', request).success
    bench.describe(urdf('hexapod'))
    bench.wait(lambda: model(bench) == 'robot hexapod', 'the good model')


def test_goal_name_too_long_for_its_topics_is_refused(bench, urdf):
    go(bench, urdf('hexapod'), ['leg0'])
    # /ik_node/goals/<name>/enable has 247 characters with 225 of the name's.
    for length in (226, 235, 5000):
        reason = bench.set_parameters(goal_names=['platform', 'g' * length])
        assert 'goal name' in reason
        assert '247' in reason
    assert bench.set_parameters(goal_names=['platform', 'g' * 225]) == ''
    bench.spin(20)
    assert bench.client.count_subscribers(f'/ik_node/goals/{"g" * 225}') == 1
    assert bench.set_parameters(goal_names=['platform']) == ''
    bench.spin(20)


def test_missing_goal_link_is_refused(bench, urdf):
    """The running robot stays; the reason names parameter, link and existing links."""
    go(bench, urdf('hexapod'), ['leg0'])
    bench.describe(urdf('fivebar'))
    bench.wait(lambda: 'refused' in model(bench), 'the refusal')
    assert "goals.platform.link: 'platform_link'" in model(bench)
    assert 'tool_link' in model(bench)
    bench.catch_up()
    seen = len(bench.joint_states)
    bench.spin(20)
    assert all('leg0' in message.name for message in bench.joint_states[seen:])


def test_rest_pose_of_another_robot_does_not_refuse_a_robot(bench, urdf):
    """A joint that the next robot lacks is logged; setting such a joint is refused."""
    go(bench, bench.other, ['left_shoulder'])
    assert bench.set_parameters(rest_pose='{left_shoulder: 0.2}') == ''
    go(bench, urdf('hexapod'), ['leg0'])
    told = 'rest_pose: robot hexapod has no joint left_shoulder; the other joints are used'
    bench.wait(lambda: told in bench.log(), 'the warning')
    assert bench.set_parameters(rate=50.0) == ''
    assert "'nose'" in bench.set_parameters(rest_pose='{nose: 0.2}')

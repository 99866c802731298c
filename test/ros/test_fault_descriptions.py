"""
Fault drill: descriptions that arrive late, twice, broken, huge, or of another robot.

Also names, goals and rest poses that do not fit the robot.
"""

from functools import partial

import pytest
from std_srvs.srv import SetBool
from support.drill import Drill

# Log lines of which each description gets one.
ANSWERS = ('ready: robot', 'received again, unchanged', 'robot_description refused')
HUGE = 5_000_000
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">'
    + ''.join(
        f'<!ENTITY {after} "{10 * f"&{before};"}">'
        for before, after in zip('abcdefgh', 'bcdefghi', strict=True)
    )
    + ']><robot name="lol"><link name="&i;"/></robot>'
)


@pytest.fixture(scope='module')
def drill(lasting_graph, urdf):
    drill = Drill(lasting_graph)
    drill.hexapod = drill.knows(urdf('hexapod'))
    drill.other_text = urdf('fivebar').replace('tool_link', 'platform_link')
    drill.fivebar = drill.knows(drill.other_text)
    drill.start()
    return drill


def answers(drill):
    return [drill.graph.log().count(words) for words in ANSWERS]


def describe(drill, text):
    """Publish a description; return what tells whether the log has an answer to it."""
    before = answers(drill)
    drill.graph.describe(text)
    return lambda: answers(drill) != before


def back(drill, urdf):
    drill.wait(describe(drill, urdf('hexapod')), 'an answer to the description')
    drill.go()


def test_late_description_is_accepted(drill, urdf):
    """Before it there are no joint states, and the node reports it; an early goal counts."""
    drill.wait(lambda: 'waiting for robot_description' in drill.row('model'), 'the diagnostic')
    assert 'waiting for /robot_description' in drill.graph.log()
    drill.send((0.002, 0.0, 0.0))
    assert drill.count == 0
    drill.graph.describe(urdf('hexapod'))
    drill.arrives((0.002, 0.0, 0.0))
    assert 'ready: robot hexapod' in drill.graph.log()


def test_repeated_description_changes_nothing(drill, urdf):
    """The node reports it in full motion; of several descriptions the last counts."""
    back(drill, urdf)
    ready, same, _ = answers(drill)
    again = partial(drill.graph.describe, urdf('hexapod'))
    drill.circle(meanwhile={5: again, 15: again})
    drill.wait(lambda: answers(drill)[1] == same + 2, 'two log lines')
    assert answers(drill)[0] == ready
    for text in (drill.other_text, urdf('hexapod'), drill.other_text, urdf('hexapod')):
        drill.graph.describe(text)
        drill.flows(2)
    drill.wait(lambda: drill.value('model', 'building') == 'false', 'the last of them')
    drill.go()
    drill.flows(20)
    assert drill.robot is drill.hexapod


@pytest.mark.parametrize(
    ('damage', 'words'),
    [
        (lambda text: text[: len(text) // 2], 'not well-formed XML'),
        (lambda text: text.replace('upper="0.02"', 'upper="nan"'), "upper: 'nan' is not a"),
        (lambda text: text.replace('<child link="platform_link"/>', ''), '<child> is missing'),
        (lambda text: text.replace('limit lower="-0.02"', 'limit lower="3"'), 'lower'),
        (lambda text: f'\x01{text}', 'begins with <'),
        (lambda text: LAUGHS, 'entities are not allowed'),
    ],
)
def test_broken_description_is_refused_in_motion(drill, urdf, damage, words):
    back(drill, urdf)
    refused = answers(drill)[2]
    drill.circle(meanwhile={10: lambda: drill.graph.describe(damage(urdf('hexapod')))})
    drill.wait(
        lambda: all(part in drill.row('model') for part in ('keeping hexapod', words)),
        f'the diagnostic on {words}',
    )
    assert answers(drill)[2] == refused + 1
    assert words in drill.graph.log()


def test_each_of_two_descriptions_with_the_same_fault_is_refused_in_the_log(drill, urdf):
    back(drill, urdf)
    refused = answers(drill)[2]
    for count in (1, 2):
        drill.graph.describe(f'<robot name="still"><link name="part{count}"/></robot>')
        drill.wait(lambda: answers(drill)[2] == refused + count, 'a line')  # noqa: B023


def huge_tree(text):
    mesh = f'<visual><geometry><mesh filename="{2500 * "x"}"/></geometry></visual>'
    links = [
        f'<link name="fixed{k}">{mesh}</link><joint name="bolt{k}" type="fixed">'
        f'<parent link="base_link"/><child link="fixed{k}"/></joint>'
        for k in range(HUGE // 2500)
    ]
    return text.replace('</robot>', f'{"".join(links)}</robot>')


def huge_robot(text):
    """Return the robot with so many links that reading them would take long."""
    links = [
        f'<link name="fixed{k}"/><joint name="bolt{k}" type="fixed">'
        f'<parent link="base_link"/><child link="fixed{k}"/></joint>'
        for k in range(HUGE // 100)
    ]
    return text.replace('</robot>', f'{"".join(links)}</robot>')


@pytest.mark.parametrize('make', [huge_tree, huge_robot])
def test_huge_description_does_not_stop_the_motion(drill, urdf, make):
    back(drill, urdf)
    text = make(urdf('hexapod'))
    assert len(text) > HUGE
    answered = []
    drill.circle(meanwhile={5: lambda: answered.append(describe(drill, text))})
    drill.wait(answered[0], 'an answer to the description')
    drill.flows(20)
    if make is huge_robot:
        drill.wait(lambda: 'links; a node accepts at most' in drill.row('model'), 'why')
        drill.circle(5)


def test_another_robot_replaces_one_in_motion(drill, urdf):
    back(drill, urdf)
    for step in range(200):
        drill.send((1e-5 * step, 0.0, 0.0))
        if step == 10:
            drill.graph.describe(drill.other_text)
        drill.flows(1)
        if drill.robot is drill.fivebar:
            break
    # The hexapod's goals are out of the five-bar's plane.
    drill.wait(lambda: not drill.status.startswith('CONVERGED'), 'another status')
    drill.wait(lambda: 'fivebar' in drill.row('model'), 'the diagnostic')
    drill.flows(20)
    drill.graph.describe(urdf('hexapod'))
    drill.go()


def test_closure_name_too_long_for_its_service_is_refused(drill, urdf):
    """ROS 2 allows 247 characters; the former robot and its services stay."""
    back(drill, urdf)
    long = urdf('hexapod').replace('leg0_ball', 'b' * 230)
    drill.graph.describe(long.replace('robot name="hexapod"', 'robot name="longer"'))
    drill.wait(lambda: 'closure name' in drill.row('model'), 'the refusal')
    assert '247' in drill.row('model')
    drill.flows(20)
    request = SetBool.Request(data=True)
    assert drill.graph.call(SetBool, 'ik_node/closures/leg0_ball/enable', request).success


def test_goal_name_too_long_for_its_topics_is_refused(drill, urdf):
    back(drill, urdf)
    # /ik_node/goals/<name>/enable has 247 characters with 225 of the name's.
    for length in (226, 5000):
        reason = drill.graph.set_parameters(goal_names=['platform', 'g' * length])
        assert 'goal name' in reason
        assert '247' in reason
    assert drill.graph.set_parameters(goal_names=['platform', 'g' * 225]) == ''
    drill.flows(20)
    assert drill.graph.client.count_subscribers(f'/ik_node/goals/{"g" * 225}') == 1
    assert drill.graph.set_parameters(goal_names=['platform']) == ''


def test_robot_without_the_link_of_a_goal_is_refused(drill, urdf):
    back(drill, urdf)
    drill.graph.describe(urdf('fivebar'))
    drill.wait(lambda: "goals.platform.link: 'platform_link'" in drill.row('model'), 'the refusal')
    assert 'tool_link' in drill.row('model')
    drill.flows(20)
    assert drill.robot is drill.hexapod


def test_rest_pose_of_another_robot_does_not_refuse_a_robot(drill, urdf):
    """A joint that the next robot lacks is logged; setting such a joint is refused."""
    drill.graph.describe(drill.other_text)
    drill.wait(lambda: drill.robot is drill.fivebar, 'the other robot')
    assert drill.graph.set_parameters(rest_pose='{left_shoulder: 0.2}') == ''
    drill.graph.describe(urdf('hexapod'))
    told = 'rest_pose: robot hexapod has no joint left_shoulder; the other joints are used'
    drill.wait(lambda: told in drill.graph.log(), 'the warning')
    assert "'nose'" in drill.graph.set_parameters(rest_pose='{nose: 0.2}')

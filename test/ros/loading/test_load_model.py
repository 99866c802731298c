"""From a description to a model that can tick."""

from ik_node.errors import DescriptionError, IkError, OptionError, TopologyError
from ik_node.ros import loading as size_limits
from ik_node.ros.loading import check_settings, load_model, ModelRequest
from ik_node.ros.parameters.settings import Settings
import numpy as np
import pytest


def request(text, closures='', **goal):
    values = {f'goals.tool.{name}': value for name, value in goal.items()}
    settings = Settings.from_values({'goal_names': ('tool',), **values})
    return ModelRequest(text, settings, closures)


def test_model_has_goals_and_closed_loops(urdf):
    """It has the goal's offset, a start with closed loops, and limits in the order of q."""
    offset = (0.0, 0.0, 0.1, 0.0, 0.0, 0.5)
    model = load_model(request(urdf('fivebar'), link='tool_link', dof='X Y', offset=offset))
    assert list(model.robot.goals) == ['tool']
    assert model.mobility == 2
    assert len(model.lower) == len(model.upper) == len(model.joint_names) == len(model.q_start)
    tool = model.robot.forward(model.q_start, 'tool_link')
    reached = model.reached('tool', model.q_start)
    assert reached[:3, 3] == pytest.approx(tool[:3, 3] + 0.1 * tool[:3, 2])
    angle = np.arctan2((tool.T @ reached)[1, 0], (tool.T @ reached)[0, 0])
    assert angle == pytest.approx(0.5)


def test_bad_description_is_refused():
    for text, kind, words in [
        ('', DescriptionError, 'begins with <'),
        ('/etc/hostname', DescriptionError, 'begins with <'),
        ('<robot', DescriptionError, '<text>'),
        ('<robot name="a"><link name="b"/></robot>', DescriptionError, 'no movable joint'),
        ('<nonsense/>', IkError, 'nonsense'),
        ('<robot><xacro:a/></robot>', DescriptionError, 'xacro.*a text is not expanded'),
    ]:
        with pytest.raises(kind, match=words):
            load_model(request(text))


def test_robot_with_open_loops_is_refused(urdf):
    closures = """
closures:
  - name: far
    type: point
    frame_a: {link: tool_link}
    frame_b: {link: base_link, xyz: [9, 0, 0]}
"""
    with pytest.raises(TopologyError, match="'far' stays"):
        load_model(request(urdf('fivebar'), closures))


def test_closures_with_equal_topic_names_are_refused(urdf):
    text = (
        urdf('hexapod').replace('"leg0_ball"', '"leg-ball"').replace('"leg1_ball"', '"leg ball"')
    )
    with pytest.raises(OptionError, match='leg_ball'):
        load_model(request(text))


def joint_request(text, **values):
    return ModelRequest.of(text, Settings.from_values(values))


def test_a_huge_robot_is_refused(monkeypatch):
    """It is refused before it is parsed or closed; the largest allowed one is accepted."""
    monkeypatch.setattr(size_limits, 'MOST_LINKS', 5)
    monkeypatch.setattr(size_limits, 'MOST_LOOPS', 1)
    joint = (
        '<joint name="j{0}" type="continuous"><parent link="l0"/><child link="l{0}"/></joint>'
        '<loop_joint name="p{0}" type="spherical"><link1 link="l{0}"/><link2 link="l0"/>'
        '</loop_joint>'
    )
    links = ''.join(f'<link name="l{number}"/>\n<link1/>' for number in range(5))
    text = f'<robot name="r">{links}{joint.format(1)}</robot>'
    assert load_model(request(text)).joint_names == ('j1',)
    with pytest.raises(DescriptionError, match='6 links; a node accepts at most 5'):
        load_model(request(text.replace('</robot>', '<link\nname="l6"/></robot>')))
    with pytest.raises(DescriptionError, match='2 loops; a node accepts at most 1'):
        load_model(request(text.replace('</robot>', f'{joint.format(2)}</robot>')))


def test_settings_are_checked_against_the_robot(urdf):
    """Goals, joints and method must fit; a trial solve leaves the options unchanged."""
    model = load_model(joint_request(urdf('fivebar')))
    options = model.solver.options
    for values in ({'solver.method': 'sdls'}, {'locked_joints': ('left_shoulder',)}):
        check_settings(model, Settings.from_values(values))
    for values, words in (
        ({'solver.method': 'ccd'}, "method: 'ccd'.*'pin' would not stay closed"),
        ({'locked_joints': ('nose',)}, 'locked_joints'),
        ({'goal_names': ('a',), 'goals.a.link': 'nose'}, 'goals.a.link'),
    ):
        with pytest.raises(OptionError, match=words):
            check_settings(model, Settings.from_values(values))
    assert model.solver.options is options

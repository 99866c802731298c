"""From a description to a model that can tick."""

from ik_node.errors import DescriptionError, IkError, OptionError, TopologyError
from ik_node.ros.loading import load_model as size_limits
from ik_node.ros.loading.load_model import check_settings, load_model
from ik_node.ros.loading.model_request import ModelRequest
from ik_node.ros.parameters.settings import Settings
import numpy as np
import pytest


def request(text, closures='', **goal):
    """Return a request with one goal, if it is given."""
    values = {f'goals.tool.{name}': value for name, value in goal.items()}
    settings = Settings.from_values({'goal_names': ('tool',), **values})
    return ModelRequest(text, closures, settings.active_goals, settings.options)


def test_model_has_goals_and_closed_loops(urdf):
    """Goal with its offset, start with closed loops, limits in the order of q."""
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


def test_a_weight_of_zero_is_no_error(urdf):
    """The goal is there, and may get a weight later."""
    model = load_model(request(urdf('fivebar'), link='tool_link', weight=0.0))
    assert not model.request.goals[0].takes_part
    position = model.reached('tool', model.q_start)[:3, 3]
    assert model.solver.solve_pose({'tool': (position, (0, 0, 0, 1))}) is not None


@pytest.mark.parametrize(
    ('text', 'kind', 'words'),
    [
        ('', DescriptionError, 'begins with <'),
        ('/etc/hostname', DescriptionError, 'begins with <'),
        ('<robot', DescriptionError, '<text>'),
        ('<robot name="a"><link name="b"/></robot>', DescriptionError, 'no movable joint'),
        ('<nonsense/>', IkError, 'nonsense'),
        ('<robot><xacro:a/></robot>', DescriptionError, 'xacro.*a text is not expanded'),
    ],
)
def test_what_is_refused(text, kind, words):
    """A path is no description, nor is half a one, nor one that cannot move."""
    with pytest.raises(kind, match=words):
        load_model(request(text))


def test_missing_link_is_refused(urdf):
    """The parameter is named, and the links there are."""
    with pytest.raises(OptionError, match=r"goals\.tool\.link: 'nose'.*tool_link"):
        load_model(request(urdf('fivebar'), link='nose'))


def test_loops_that_cannot_be_closed_are_refused(urdf):
    """With the loop and how far it is open."""
    closures = """
closures:
  - name: far
    type: point
    frame_a: {link: tool_link}
    frame_b: {link: base_link, xyz: [9, 0, 0]}
"""
    with pytest.raises(TopologyError, match="'far' stays"):
        load_model(request(urdf('fivebar'), closures))


def test_missing_closure_link_is_refused(urdf):
    """A closure on a link that is not there."""
    closures = 'closures: [{name: c, frame_a: {link: nose}, frame_b: {link: base_link}}]'
    with pytest.raises(IkError, match='nose'):
        load_model(request(urdf('fivebar'), closures))


def test_closures_that_fall_together_as_topics_are_refused(urdf):
    """Names of closures become parts of topics."""
    text = (
        urdf('hexapod').replace('"leg0_ball"', '"leg-ball"').replace('"leg1_ball"', '"leg ball"')
    )
    with pytest.raises(OptionError, match='leg_ball'):
        load_model(request(text))


def joint_request(text, **values):
    """Return a request without goals under these parameters."""
    return ModelRequest.of(text, Settings.from_values(values))


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        ({'locked_joints': ('nose',)}, "locked_joints: 'nose'"),
        ({'actuated_joints': ('nose',)}, "actuated_joints: 'nose'"),
        ({'output.joints': ('nose',)}, r"output\.joints: 'nose'"),
    ],
)
def test_parameters_that_name_no_joint_of_the_robot(urdf, values, words):
    """The description is refused, with the parameter and the joints there are."""
    with pytest.raises(OptionError, match=f'{words}.*left_shoulder'):
        load_model(joint_request(urdf('fivebar'), **values))


def test_a_huge_robot_is_refused(monkeypatch):
    """Before it is read, or before its loops are closed; the most that is allowed is not."""
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


def test_floating_root(urdf):
    """The base has six values before the others, and poses count in the world."""
    model = load_model(joint_request(urdf('fivebar'), root='floating'))
    assert model.joint_names[0] == '__world_joint__.X'
    assert model.root_frame == 'world'
    assert model.mobility == 8
    assert load_model(joint_request(urdf('fivebar'))).root_frame == 'base_link'


def test_check_settings(urdf):
    """Goals, joints and method must fit the robot; a trial leaves the options as they were."""
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

"""Which joints are actuated, commanded and locked."""

from ik_node.errors import OptionError
from ik_node.robot import load_robot
from ik_node.ros.loading import check_joint_targets, JointRoles, unknown_joint_targets
from ik_node.ros.parameters.settings import Settings
import pytest
from support.fourbar_urdf import FOURBAR

BALL = """<robot name="ball"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="ball" type="ball"><parent link="a"/><child link="b"/></joint>
  <joint name="turn" type="continuous"><parent link="b"/><child link="c"/></joint></robot>"""


def roles(robot, **names):
    return JointRoles.of(robot, Settings.from_values(names))


def test_transmissions_define_actuated_joints(urdf):
    found = roles(load_robot(urdf('fivebar')))
    assert found.actuated == ('left_shoulder', 'right_shoulder')
    assert found.outputs == found.actuated
    assert found.locked == frozenset()


def test_all_independent_joints_are_actuated_by_default():
    """Without information, all movable joints except coupled ones are actuated."""
    assert roles(load_robot(FOURBAR)).actuated == ('rock', 'drive', 'middle', 'nod')


def test_a_floating_base_has_no_motor(urdf):
    text = urdf('fivebar').split('<!-- the motors -->')[0] + '</robot>'
    found = roles(load_robot(text, root='floating')).actuated
    assert found == ('left_shoulder', 'left_elbow', 'right_shoulder', 'right_elbow')


def test_joint_name_stands_for_all_of_its_values():
    robot = load_robot(BALL)
    found = roles(robot, **{'locked_joints': ('ball',), 'output.joints': ('ball.EY', 'turn')})
    assert found.locked == {'ball.EX', 'ball.EY', 'ball.EZ'}
    assert found.outputs == ('ball.EY', 'turn')


def test_unknown_coupled_and_repeated_joints_are_refused():
    for settings, words in [
        ({'locked_joints': ('nose',)}, "locked_joints: 'nose'.*no movable joint.*known: .*drive"),
        ({'actuated_joints': ('nose',)}, "actuated_joints: 'nose'"),
        ({'output.joints': ('nose',)}, r"output\.joints: 'nose'"),
        ({'output.joints': ('shake',)}, r"output\.joints: 'shake'.*follows 'nod'"),
        ({'actuated_joints': ('shake',)}, "actuated_joints: 'shake'.*follows 'nod'"),
        ({'output.joints': ('drive', 'drive')}, 'every joint once'),
    ]:
        with pytest.raises(OptionError, match=words):
            roles(load_robot(FOURBAR), **settings)


def test_targets_for_missing_joints_are_refused_or_reported():
    robot = load_robot(FOURBAR)
    settings = Settings.from_values(
        {'rest_pose': '{nose: 1.0, drive: 0.5}', 'joint_targets': '{drive: 0.1}'}
    )
    assert JointRoles.of(robot, settings) == roles(robot)
    assert unknown_joint_targets(robot, settings) == {'rest_pose': ['nose']}
    for parameter in ('rest_pose', 'joint_targets'):
        with pytest.raises(OptionError, match=f"{parameter}: 'nose'"):
            check_joint_targets(robot, Settings.from_values({parameter: '{nose: 1.0}'}))
    check_joint_targets(robot, Settings.from_values({'rest_pose': '{drive: 0.5}'}))

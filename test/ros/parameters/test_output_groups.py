"""Groups of joints that have a controller each."""

from ik_node.errors import OptionError
from ik_node.ros.parameters.settings import Outlet, Settings, split
import pytest

GROUPS = {
    'output.groups': ('left_arm', 'gripper'),
    'output.left_arm.joints': ('a', 'b'),
    'output.left_arm.action': '/left/follow',
    'output.gripper.joints': ('c',),
    'output.gripper.type': 'commands',
    'output.gripper.topic': '/gripper/commands',
}


def test_each_group_has_its_controller():
    """Topics have names of their own unless they are set."""
    settings = Settings.from_values(GROUPS)
    assert settings.outlets == (
        Outlet(
            'joint_trajectory',
            '~/left_arm/joint_trajectory',
            ('a', 'b'),
            '/left/follow',
            'left_arm',
        ),
        Outlet('commands', '/gripper/commands', ('c',), '', 'gripper'),
    )
    assert settings.output_type == 'groups'
    plans_only = {**GROUPS, 'output.left_arm.type': 'none', 'output.gripper.type': 'none'}
    assert Settings.from_values(plans_only).output_type == 'none'


def test_bad_groups_are_refused():
    for values, words in [
        ({'output.type': 'both'}, "output.type: 'both' .* while output.groups is set"),
        ({'output.action': '/follow'}, 'output.action: .* while output.groups is set'),
        ({'output.joints': ('a',)}, 'output.joints: .* while output.groups is set'),
        ({'output.gripper.joints': ()}, 'output.gripper.joints: .* the joints of the group'),
        ({'output.gripper.joints': ('b',)}, "output.gripper: 'b' .* in one group"),
        ({'output.left_arm.joints': ('a', 'a')}, "output.left_arm: 'a' .* in one group, once"),
        ({'output.gripper.action': '/left/follow'}, 'output.gripper: .* in one group'),
        ({'output.left_arm.topic': '/gripper/commands'}, 'output.gripper: .* in one group'),
        ({'output.gripper.type': 'both'}, 'output.gripper.type: .* none or joint_trajectory or'),
        (
            {'output.groups': ('joints',)},
            "output.groups: 'joints' .* output.joints is a parameter",
        ),
        ({'output.groups': ('a.b',)}, 'output.groups: .* without dots'),
    ]:
        with pytest.raises(OptionError, match=words):
            Settings.from_values({**GROUPS, **values})


@pytest.mark.parametrize(
    ('motors', 'takers', 'words'),
    [
        (['b', 'a'], ['left_arm'], ''),
        (['a', 'b', 'c'], ['left_arm', 'gripper'], ''),
        (['a'], [], 'the controller of group left_arm also moves b'),
        (['a', 'b', 'd'], [], 'no controller takes plans for d'),
    ],
)
def test_plan_is_split_among_whole_groups(motors, takers, words):
    outlets = Settings.from_values(GROUPS).outlets
    found, reason = split(outlets, motors)
    assert ([each.group for each in found], reason) == (takers, words)


def test_joints_of_groups_are_commanded_in_their_order(moving):
    """A joint that the robot does not have is named with the parameter of its group."""
    groups = {
        'output__groups': ('right', 'left'),
        'output__left__joints': ('motor_left',),
        'output__right__joints': ('motor_right',),
    }
    assert moving('ankle', **groups).motion.roles.outputs == ('motor_right', 'motor_left')
    with pytest.raises(OptionError, match=r'output.left.joints: .*knee'):
        moving('ankle', **{**groups, 'output__left__joints': ('knee',)})

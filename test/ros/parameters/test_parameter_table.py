"""The parameter table, its checks, and the texts and settings made from it."""

import dataclasses
import math
import re

from ik_node.errors import OptionError
from ik_node.ros.parameters.parameter_table import (
    help_text,
    parameter_table,
    solver_parameters,
    yaml_value,
)
from ik_node.ros.parameters.settings import Outlet, parse_joint_values, Settings, split
from ik_node.solver import SolverOptions
import pytest
import yaml

GROUPS = {
    'output.groups': ('left_arm', 'gripper'),
    'output.left_arm.joints': ('a', 'b'),
    'output.left_arm.action': '/left/follow',
    'output.gripper.joints': ('c',),
    'output.gripper.type': 'commands',
    'output.gripper.topic': '/gripper/commands',
}
GOAL = {'goal_names': ('a',)}
# Values that are not allowed, or contradict each other, and what the error says.
REFUSED = [
    ({'rate': 0.0}, 'rate.*from 0.1 to 2000 Hz'),
    ({'rate': math.nan}, 'rate.*from 0.1 to 2000 Hz'),
    ({'rate': True}, r'rate.*double((?!quotes).)*$'),
    ({'state_source': 'guess'}, 'state_source.*solution or measured or actuated'),
    ({'goal_names': [1, 2]}, r'goal_names.*string\[\]'),
    ({**GOAL, 'goals.a.offset': [0.0] * 5}, r'goals.a.offset.*double\[6\]'),
    ({**GOAL, 'goals.a.enabled': 1}, r'goals.a.enabled.*bool((?!quotes).)*$'),
    ({**GOAL, 'goals.a.tolerance': [0.1] * 3}, 'goals.a.tolerance: .* or 6, one for each axis'),
    ({**GOAL, 'goals.a.dof': 'X Q'}, 'goals.a.dof'),
    ({'solver.max_iterations': 2.5}, 'solver.max_iterations.*int'),
    ({'solver.method': 'guess'}, 'solver.method.*dls or sdls or .* or slsqp'),
    ({'goal_names': ('a-b', 'a_b')}, "both become 'a_b'"),
    ({'goal_names': ('a.b',)}, 'without dots'),
    ({'rest_pose': '{a: b}'}, 'rest_pose'),
    ({'output.type': 'all'}, 'none or joint_trajectory or commands or both'),
    ({'markers.layers': 'axes paint'}, 'markers.layers: .* some of frames links axes'),
    ({'markers.color': 'red'}, "markers.color: 'red' .*; use '#rrggbb'"),
    # ROS reads a text without quotes as another type.
    ({**GOAL, 'goals.a.dof': True}, 'goals.a.dof.*True.* in quotes, as'),
    ({'goal_names': [True, False]}, r'goal_names.*\[True, False\].* in quotes, as'),
    # Groups of joints that have a controller each.
    ({**GROUPS, 'output.type': 'both'}, "output.type: 'both' .* while output.groups is set"),
    ({**GROUPS, 'output.action': '/follow'}, 'output.action: .* while output.groups is set'),
    ({**GROUPS, 'output.gripper.joints': ()}, 'output.gripper.joints: .* joints of the group'),
    ({**GROUPS, 'output.gripper.joints': ('b',)}, "output.gripper: 'b' .* in one group"),
    ({**GROUPS, 'output.left_arm.joints': ('a', 'a')}, "left_arm: 'a' .* in one group, once"),
    ({**GROUPS, 'output.gripper.action': '/left/follow'}, 'output.gripper: .* in one group'),
    ({**GROUPS, 'output.left_arm.topic': '/gripper/commands'}, 'gripper: .* in one group'),
    ({'output.groups': ('joints',)}, "output.groups: 'joints' .* output.joints is a parameter"),
    ({'output.groups': ('a.b',)}, 'output.groups: .* without dots'),
]


def test_every_solver_option_is_a_parameter():
    """Each field that is a parameter has its row, with its default except for the restarts."""
    rows = {spec.name: spec for spec in solver_parameters()}
    fields = [each for each in dataclasses.fields(SolverOptions) if each.metadata['parameter']]
    assert {*rows} == {f'solver.{field.name}' for field in fields}
    for field in fields:
        row = rows[f'solver.{field.name}']
        assert row.default == (0 if field.name == 'restarts' else field.default)
        assert len(row.doc) > 10
        assert row.choices == field.metadata['allowed']


def test_names_of_parameters_are_told_by_the_help_and_none_is_the_prefix_of_another():
    names, text = [spec.name for spec in parameter_table()], help_text()
    for name in names:
        assert f'  {name}: ' in text
        assert not [other for other in names if other.startswith(f'{name}.')]


def test_allowed_values_get_the_type_of_the_default():
    for name, value, expected in [
        ('rate', 50, 50.0),
        ('goal_names', ['a', 'b'], ('a', 'b')),
        ('goal_names', [], ('',)),
        ('goals.<name>.offset', [0, 0, 1, 0, 0, 0], (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)),
        ('solver.translation_error_clamp', math.inf, math.inf),
    ]:
        spec = next(spec for spec in parameter_table() if spec.name == name)
        checked = spec.check(value)
        assert checked == expected
        assert type(checked) is type(expected)


def test_values_that_are_not_allowed_are_refused_by_name():
    for values, words in REFUSED:
        with pytest.raises(OptionError) as caught:
            Settings.from_values(values)
        assert re.search(words, str(caught.value)), (values, caught.value)


def test_mapping_of_joints_to_numbers_is_read():
    """Flow and block style are allowed; 1e-3 is a number although YAML 1.1 reads a text."""
    for text, expected in [
        ('  ', {}),
        ('{a: 1, b: -0.5}', {'a': 1.0, 'b': -0.5}),
        ('a: 1e-3\nb: 2', {'a': 0.001, 'b': 2.0}),
        ('{"ball.EX": 0.1}', {'ball.EX': 0.1}),
    ]:
        assert parse_joint_values('rest_pose', text) == expected
    for text, words in [
        ('{a: 1', 'rest_pose.*YAML mapping.*not valid YAML'),
        ('[1, 2]', r"rest_pose: '\[1, 2\]' cannot be used.*YAML mapping"),
        ('{a: fast}', r"a: expected 1 finite number .*\['fast'\]"),
        ('{a: true}', 'expected 1 finite number'),
        ('{a: .nan}', 'expected 1 finite number'),
        ('{a: }', 'expected 1 finite number'),
        ('{1: 0.5}', 'expected a name, got 1'),
        ('{a: 1, a: 2}', 'occurs twice'),
        ('{a: 1' + '0' * 400 + '}', 'expected 1 finite number'),
    ]:
        with pytest.raises(OptionError, match=words):
            parse_joint_values('rest_pose', text)


def test_yaml_file_says_what_the_table_says(repository):
    """Every default is allowed, and has the right type in config/ik_node.yaml."""
    text = (repository / 'config' / 'ik_node.yaml').read_text()
    said = re.sub(r'[\s#]', '', text)
    values = yaml.safe_load(text)['/**']['ros__parameters']
    for group in ('collisions', 'solver', 'output', 'markers', 'transmission'):
        values.update({f'{group}.{key}': value for key, value in values.pop(group).items()})
    for spec in parameter_table():
        assert spec.check(spec.default) == spec.default
        if '<name>' not in spec.name:
            assert re.sub(r'[\s#]', '', f'{spec.doc} ({spec.allowed})') in said
            assert spec.check(values.pop(spec.name)) == spec.default
    assert values == {}
    texts = {1e-10: '1.0e-10', 2.0: '2.0', True: 'true', "it's": "'it''s'", ('',): "['']", 3: '3'}
    assert {value: yaml_value(value) for value in texts} == texts


def test_each_group_has_its_controller():
    """Topics have names of their own unless they are set."""
    settings = Settings.from_values(GROUPS)
    topic = '~/left_arm/joint_trajectory'
    assert settings.outlets == (
        Outlet('joint_trajectory', topic, ('a', 'b'), '/left/follow', 'left_arm'),
        Outlet('commands', '/gripper/commands', ('c',), '', 'gripper'),
    )
    assert settings.output_type == 'groups'
    plans_only = {**GROUPS, 'output.left_arm.type': 'none', 'output.gripper.type': 'none'}
    assert Settings.from_values(plans_only).output_type == 'none'


@pytest.mark.parametrize(
    ('motors', 'takers', 'words'),
    [
        (['a', 'b', 'c'], ['left_arm', 'gripper'], ''),
        (['a'], [], 'the controller of group left_arm also moves b'),
        (['a', 'b', 'd'], [], 'no controller takes plans for d'),
    ],
)
def test_plan_is_split_among_whole_groups(motors, takers, words):
    found, reason = split(Settings.from_values(GROUPS).outlets, motors)
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

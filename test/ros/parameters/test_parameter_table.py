"""The parameter table, its checks, and the texts made from it."""

import dataclasses
import math
import re

from ik_node.errors import OptionError
from ik_node.model.link import Link
from ik_node.ros.parameters.parameter_table import (
    parameter_table,
    ParameterSpec,
    solver_parameters,
)
from ik_node.ros.parameters.parameter_text import help_text, yaml_text, yaml_value
from ik_node.ros.parameters.settings import JointSettings, Settings
from ik_node.scene import IKRootsHelper
from ik_node.solver import SolverOptions
import pytest


def test_every_solver_option_is_a_parameter():
    """Each field that is a parameter has its row, with its default except for the restarts."""
    rows = {spec.name: spec for spec in solver_parameters()}
    for field in dataclasses.fields(SolverOptions):
        if not field.metadata['parameter']:
            continue
        default = 0 if field.name == 'restarts' else field.default
        assert rows[f'solver.{field.name}'].default == default
        assert len(rows[f'solver.{field.name}'].doc) > 10
        assert rows[f'solver.{field.name}'].choices == field.metadata['allowed']
    fields = dataclasses.fields(SolverOptions)
    assert len(rows) == sum(field.metadata['parameter'] for field in fields)


def test_no_name_is_the_prefix_of_another():
    names = [spec.name for spec in parameter_table()]
    for name in names:
        assert not [other for other in names if other.startswith(f'{name}.')]


def test_defaults_are_allowed():
    for spec in parameter_table():
        assert spec.check(spec.default) == spec.default


def test_allowed_values_are_accepted():
    for name, value, expected in [
        ('rate', 50, 50.0),
        ('rate', 62.5, 62.5),
        ('goal_names', ['a', 'b'], ('a', 'b')),
        ('goal_names', [], ('',)),
        ('goals.<name>.offset', [0, 0, 1, 0, 0, 0], (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)),
        ('solver.translation_error_clamp', math.inf, math.inf),
    ]:
        spec = next(spec for spec in parameter_table() if spec.name == name)
        checked = spec.check(value)
        assert checked == expected
        assert type(checked) is type(expected)


def test_other_values_are_refused():
    for name, value, allowed in [
        ('rate', 0.0, 'from 0.1 to 2000 Hz'),
        ('rate', math.nan, 'from 0.1 to 2000 Hz'),
        ('rate', math.inf, 'from 0.1 to 2000 Hz'),
        ('rate', 'fast', 'double'),
        ('rate', True, 'double'),
        ('state_source', 'guess', 'solution or measured or actuated'),
        ('goal_names', 'platform', r'string\[\]'),
        ('goal_names', [1, 2], r'string\[\]'),
        ('goals.<name>.offset', [0.0] * 5, r'double\[6\]'),
        ('goals.<name>.offset', [math.nan] * 6, r'double\[6\]'),
        ('goals.<name>.enabled', 1, 'bool'),
        ('solver.max_iterations', 2.5, 'int'),
        ('solver.max_iterations', 0, 'from 1'),
        ('solver.adaptive_damping', 'yes', 'bool'),
        ('solver.method', 'guess', 'dls or sdls or .* or slsqp'),
        ('solver.jacobian', 1, 'analytic or numeric'),
    ]:
        spec = next(spec for spec in parameter_table() if spec.name == name)
        with pytest.raises(OptionError, match=f'{name}.*{allowed}'):
            spec.check(value)


def test_unquoted_text_is_refused_with_a_hint():
    for name, value in [
        ('goals.<name>.dof', True),
        ('goals.<name>.link', False),
        ('goals.<name>.link', 7),
        ('goal_names', [True, False]),
        ('locked_joints', [1.5]),
        ('on_stale', True),
    ]:
        spec = next(spec for spec in parameter_table() if spec.name == name)
        with pytest.raises(OptionError, match=f'{name}.*{re.escape(repr(value))}.* in quotes, as'):
            spec.check(value)


@pytest.mark.parametrize(('name', 'value'), [('rate', True), ('goals.<name>.enabled', 1)])
def test_number_is_refused_without_the_hint_to_quote(name, value):
    spec = next(spec for spec in parameter_table() if spec.name == name)
    with pytest.raises(OptionError) as caught:
        spec.check(value)
    assert 'quotes' not in str(caught.value)


def test_settings_hold_goals_of_goal_names_only():
    settings = Settings.from_values(
        {
            'goal_names': ('hand', 'foot'),
            'goals.hand.link': 'tip',
            'goals.hand.weight': 2,
            'goals.nose.link': 'head',
            'rate': 50.0,
        }
    )
    assert [goal.name for goal in settings.goals] == ['hand', 'foot']
    assert [goal.name for goal in settings.active_goals] == ['hand']
    assert settings.goals[0].weight == 2.0
    assert settings.period == 0.02
    assert settings.options.restarts == 0


def test_contradicting_values_are_refused():
    for values, words in [
        ({'goal_names': ('a-b', 'a_b')}, "both become 'a_b'"),
        ({'goal_names': ('a', 'a')}, "both become 'a'"),
        ({'goal_names': ('a.b',)}, 'without dots'),
        ({'goal_names': ('a b',)}, 'spaces'),
        ({'goal_names': ('a',), 'goals.a.dof': 'X Q'}, 'goals.a.dof'),
        ({'rest_pose': '{a: b}'}, 'rest_pose'),
        ({'joint_targets': '{'}, 'joint_targets'),
        ({'root': 'loose'}, 'fixed or floating'),
        ({'output.type': 'all'}, 'none or joint_trajectory or commands or both'),
        ({'markers.layers': 'axes paint'}, 'markers.layers: .* some of frames links axes'),
        ({'markers.color': 'red'}, "markers.color: 'red' .*; use '#rrggbb'"),
        ({'markers.rate': 0.0}, 'markers.rate: .* from 0.1'),
        ({'markers.scale': -1.0}, 'markers.scale: .* from 0 to 1000 m'),
        ({'markers.draw_through': 1.5}, 'markers.draw_through: .* from 0 to 1'),
    ]:
        with pytest.raises(OptionError, match=words):
            Settings.from_values(values)


def test_joint_parameters_are_read():
    assert Settings.from_values({}).joints == JointSettings()
    assert Settings.from_values(
        {
            'locked_joints': ('a',),
            'actuated_joints': ('b', ''),
            'output.joints': ('c',),
            'output.type': 'both',
            'rest_pose': '{d: 1}',
            'joint_targets': '{e: -2}',
        }
    ).joints == JointSettings(('a',), ('b',), ('c',), {'d': 1.0}, {'e': -2.0})


def test_marker_parameters_are_applied():
    helper = IKRootsHelper(Link())
    Settings.from_values({}).markers.apply(helper)
    assert helper.layers == {'frames', 'axes', 'limits', 'closures', 'goals'}
    size = helper.joint_scale
    values = {
        'markers.layers': 'links labels',
        'markers.scale': 0.5,
        'markers.color': '#ff0000',
        'markers.draw_through': 0.25,
        'markers.rate': 4,
    }
    settings = Settings.from_values(values).markers
    settings.apply(helper)
    assert helper.layers == {'links', 'labels'}
    assert (helper.joint_scale, settings.period) == (0.5, 0.25)
    Settings.from_values({}).markers.apply(helper)
    assert helper.joint_scale == size


def test_goal_structure_changes_only_with_what_is_solved():
    """Weight, priority, tolerance and enabled need no new solver; link, axes and offset do."""

    def goal(**more):
        values = {'goal_names': ('a',), 'goals.a.link': 'tip'}
        values.update({f'goals.a.{name}': value for name, value in more.items()})
        return Settings.from_values(values).goals[0]

    plain = goal().structure
    assert goal(weight=2.0, priority=3, tolerance=[0.1], enabled=False).structure == plain
    for change in ({'link': 'b'}, {'dof': 'X'}, {'axes': 'link'}, {'offset': [1.0] + [0.0] * 5}):
        assert goal(**change).structure != plain


@pytest.mark.parametrize(
    ('tolerance', 'dof', 'read'),
    [
        ([0.0], 'X Y Z', None),
        ([0.1], 'X Y Z', (0.1,)),
        ([0.1, 0.2], 'X Y Z', (0.1, 0.2)),
        ([0.1, 0.2, 0.3], 'X Y Z', (0.1, 0.2, 0.3)),
    ],
)
def test_tolerance_of_goal_is_read(tolerance, dof, read):
    values = {'goal_names': ('a',), 'goals.a.tolerance': tolerance, 'goals.a.dof': dof}
    settings = Settings.from_values(values).goals[0]
    assert settings.goal_tolerance == read
    assert settings.to_values()['goals.a.tolerance'] == tolerance


def test_tolerance_with_wrong_count_of_numbers_is_refused():
    values = {'goal_names': ('a',), 'goals.a.tolerance': [0.1, 0.1, 0.1]}
    with pytest.raises(OptionError, match=r'goals.a.tolerance: .* or 6, one for each axis'):
        Settings.from_values(values)


def test_yaml_file_is_the_table(repository):
    assert (repository / 'config' / 'ik_node.yaml').read_text() == yaml_text()


def test_yaml_reads_back(repository):
    yaml = pytest.importorskip('yaml')
    values = yaml.safe_load(yaml_text())['/**']['ros__parameters']
    for group in ('collisions', 'solver', 'output', 'markers', 'transmission'):
        values.update({f'{group}.{key}': value for key, value in values.pop(group).items()})
    for spec in parameter_table():
        if '<name>' not in spec.name:
            assert spec.check(values.pop(spec.name)) == spec.default
    assert values == {}


def test_yaml_values_keep_their_type():
    for value, text in [
        (1e-10, '1.0e-10'),
        (2.0, '2.0'),
        (True, 'true'),
        ("it's", "'it''s'"),
        (('',), "['']"),
        (math.inf, '.inf'),
        (3, '3'),
    ]:
        assert yaml_value(value) == text


def test_help_names_every_parameter():
    text = help_text()
    for spec in parameter_table():
        assert f'  {spec.name}: ' in text


def test_type_names_are_those_of_ros():
    for default, name in (('', 'string'), (1.0, 'double'), (1, 'int'), (False, 'bool')):
        assert ParameterSpec('x', default, '').type_name == name

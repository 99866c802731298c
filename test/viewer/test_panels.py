"""Texts and settings of the panels."""

from dataclasses import replace
from math import inf, radians
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from ik_node import load_robot
from ik_node.model.collisions import Distance
from ik_node.ros.parameters.settings import parse_joint_values
from ik_node.scene.chain_report import ChainReport
from ik_node.solver.result import PoseError
from ik_node.transmission.motor_load import MotorEffort
from ik_node.viewer.panels.goal_panel import HandleStyle
from ik_node.viewer.panels.joint_panel import configuration_yaml
from ik_node.viewer.panels.load_panel import efforts_html, quantity
from ik_node.viewer.panels.solver_panel import History, LEAST, PlotPanel
from ik_node.viewer.panels.text_html import (
    details_html,
    GREEN,
    MOST,
    notes_html,
    ORANGE,
    RED,
    state_of,
)
import numpy as np
import pytest
from scipy.spatial.transform import Rotation


def report(status='CONVERGED', goals=None, loops=None, message='why it is so'):
    return ChainReport('x', status, message, 7, 0.00123, goals or {}, loops or {})


def state(reports, **about):
    robot = SimpleNamespace(goals={'hand': None})
    usual = {'note': '', 'solutions': None, 'locked': (), 'robot': robot}
    return state_of(SimpleNamespace(reports=reports, **{**usual, **about}))


NONE, SMALL, LARGE = PoseError(0.0, 0.0), PoseError(1e-9, 0.0), PoseError(0.02, 0.5)


def test_state_counts_goals_and_loops_in_words():
    """What a chain that has converged leaves is within its tolerances; a note comes first."""
    for reports, words, colour in [
        ([], 'no goal and no loop', ''),
        ([report(goals={'hand': NONE})], '1 goal met', GREEN),
        (
            [report(goals={'a': NONE, 'b': NONE}, loops={'l': SMALL}), report(loops={'m': SMALL})],
            '2 goals met, 2 loops closed',
            GREEN,
        ),
        (
            [report('STALLED', {'a': LARGE, 'b': NONE}, {'l': SMALL})],
            '1 of 2 goals not met, 1 loop closed',
            ORANGE,
        ),
        (
            [report('DIVERGED', {'a': LARGE}, {'l': LARGE, 'm': NONE})],
            '1 goal not met, 1 of 2 loops open',
            RED,
        ),
    ]:
        assert state(reports) == (words, colour)
    near = Distance(('hand', 'wall'), 0.0052, np.zeros((2, 3)))
    blocked = replace(report('STALLED', {'a': LARGE}), nearest=near)
    assert state([blocked]) == ('1 goal not met, hand 5.2 mm from wall', ORANGE)
    assert state([replace(report(goals={'a': NONE}), nearest=near)]) == ('1 goal met', GREEN)
    assert state([report(goals={'hand': NONE})], note='waiting') == ('waiting', RED)
    empty = SimpleNamespace(goals={})
    asks = '1 loop closed, click a link to make a goal'
    assert state([report(loops={'l': NONE})], robot=empty) == (asks, GREEN)


def test_state_names_locked_joints_if_a_goal_is_not_met():
    missed = state([report('STALLED', {'a': LARGE})], locked={'leg1', 'leg0'})
    assert missed == ('1 goal not met, locked: leg0, leg1', ORANGE)
    assert state([report(goals={'a': NONE})], locked={'leg0'}) == ('1 goal met', GREEN)


def test_details_show_the_worst_residual_first_in_mm_and_degrees():
    goals = {f'goal_{number:02}': PoseError(1e-9 * number, 0.0) for number in range(MOST + 2)}
    text = details_html([report('STALLED', {**goals, 'wide': LARGE})])
    assert text.index('wide') < text.index(f'goal_{MOST + 1:02}') < text.index(f'goal_{MOST:02}')
    for words in ('20 mm', '28.6°', 'and 3 more', '7 steps, 1.23 ms', 'why it is so'):
        assert words in text
    assert 'goal_00' not in text
    assert 'why it is so' not in details_html([report(goals=goals)])
    tiny = details_html([report(goals={'a': PoseError(2e-10, 0.0)})])
    assert '>2e-7 mm<' in tiny
    assert '>0°<' in tiny


def test_details_have_no_number_for_what_a_goal_leaves_free():
    robot = load_robot('arm6')
    robot.add_goal('tool_link', name='place', dof='X Y Z')
    robot.add_goal('tool_link', name='turn', dof='EX EY')
    text = details_html([report(goals={'place': NONE, 'turn': NONE})], robot)
    assert text.count('0 mm') == text.count('0°') == 1


def test_messages_are_in_mm_and_degrees():
    """Lengths and angles only: names and velocities stay."""
    message = "STALLED: goal 'at 2 mm' is 1.27 m, 2.5e-05 rad off; j3 moves at 2 rad/s, 0.269 m/s"
    text = details_html([report('STALLED', {'a': LARGE}, message=message)])
    assert 'is 1270 mm, 0.00143° off; j3 moves at 2 rad/s, 0.269 m/s' in text
    assert 'at 2 mm' in text


def test_warnings_on_the_file_are_shown():
    text = notes_html('robot', 'no node', ['warning: <pin> is open', 'no <axis>'])
    assert '>warning: &lt;pin&gt; is open<' in text
    assert 'no node' in text
    assert 'axis' not in text


def test_names_never_become_markup():
    bad = '<img src=x onerror=alert(1)>"'
    error = {bad: LARGE}
    texts = (
        details_html([report(bad, error, error, bad)]),
        notes_html(bad, bad, [f'warning: {bad}']),
        efforts_html([MotorEffort(bad, 1.0, 2.0, 'N')]),
    )
    for text in texts:
        assert '<img' not in text
        assert '"' not in text.split('&lt;img', 1)[1].split('&gt;')[0]


def test_quantities_have_three_digits_and_a_unit():
    found = [quantity(value, 'N') for value in (-1234.0, 999.6, 99.96, -1.234, 0.0123, -1e-9)]
    assert found == ['-1230 N', '1000 N', '100 N', '-1.23 N', '0.012 N', '0 N']


def test_efforts_are_marked_beyond_their_limits():
    efforts = [
        MotorEffort('low', 10.0, 40.0, 'N m'),
        MotorEffort('high', -36.0, 40.0, 'N m'),
        MotorEffort('over', -90.0, 60.0, 'N'),
        MotorEffort('free', 5.0, inf, 'N'),
    ]
    text = efforts_html(efforts)
    rows = {name: text.split(f'title="{name}"')[0].rsplit('<tr', 1)[1] for name in ('low', 'high')}
    assert (ORANGE in rows['high'], ORANGE in rows['low']) == (True, False)
    for words in ('>10 N m', '25 %', '150 %', '1 over the limit'):
        assert words in text
    assert text.count(' %<') == 3
    assert 'over the limit' not in efforts_html(efforts[:2])


@given(st.floats(-1e6, 1e6))
def test_configuration_is_yaml_that_the_node_reads_back(value):
    """Whatever a joint is called; to a billionth, small values too, which are text to YAML 1.1."""
    assert configuration_yaml(['hip', 'knee'], [0.5, -1.25]) == '"hip": 0.5\n"knee": -1.25\n'
    names = ['hip', 'y', 'No', 'true', '1e3', '0x1f', 'a: b', "it's", '-', '#1', 'é']
    found = parse_joint_values('rest_pose', configuration_yaml(names, [value] * len(names)))
    assert found == pytest.approx(dict.fromkeys(names, value), abs=1e-9)
    assert parse_joint_values('rest_pose', configuration_yaml([], [])) == {}


def pose(place, turn=(0.0, 0.0, 0.0)):
    """Return a pose of a place [m] and a rotation vector [rad]."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_rotvec(turn).as_matrix()
    matrix[:3, 3] = place
    return matrix


START = pose((0.013, 0.027, 0.1), (0.3, -0.2, 0.5))


def test_grid_drag_ends_on_multiples():
    """In the world's axes of the place, in others of the way; what is not moved stays off it."""
    dragged = pose((0.2, 0.1, 0.3), (0.1, 0.2, 0.3))
    np.testing.assert_array_equal(HandleStyle().snapped(START, np.eye(3), dragged), dragged)
    grid = HandleStyle(step=0.05)
    for place, wanted in [
        ((0.0961, -0.0449, 0.1), (0.1, -0.05, 0.1)),
        ((0.0961, 0.027, 0.1), (0.1, 0.027, 0.1)),
    ]:
        dragged = START.copy()
        dragged[:3, 3] = place
        found = grid.snapped(START, np.eye(3), dragged)
        np.testing.assert_allclose(found[:3, 3], wanted, atol=1e-12)
        np.testing.assert_array_equal(found[:3, :3], START[:3, :3])
    axes, dragged = START[:3, :3], START.copy()
    dragged[:3, 3] += axes @ (0.069, 0.0, -0.12)
    found = grid.snapped(START, axes, dragged)
    np.testing.assert_allclose(axes.T @ (found - START)[:3, 3], (0.05, 0.0, -0.1), atol=1e-12)


@pytest.mark.parametrize(
    ('angle', 'wanted'), [(40.0, 45.0), (-22.0, -15.0), (172.0, 165.0), (7, 0)]
)
def test_grid_rotation_is_a_multiple_of_the_step(angle, wanted):
    axis = np.array((2.0, -1.0, 2.0)) / 3.0
    dragged, expected = START.copy(), START.copy()
    for matrix, degrees in ((dragged, angle), (expected, wanted)):
        turn = Rotation.from_rotvec(radians(degrees) * axis).as_matrix()
        matrix[:3, :3] = turn @ START[:3, :3]
    found = HandleStyle(angle=radians(15.0)).snapped(START, np.eye(3), dragged)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def goal_report(name, residual, solve_time=0.001):
    errors = {name: PoseError(residual, 0.5 * residual)}
    return ChainReport(name, 'CONVERGED', 'CONVERGED', 3, solve_time, errors, {})


def test_history_has_time_column_and_one_per_chain():
    """Times count back from the last one; residuals are powers of ten, solve times in ms."""
    history = History()
    history.add(10.0, [goal_report('a', 1e-3), goal_report('b', 1e-7, 0.002)])
    history.add(10.5, [goal_report('a', 1e-4), goal_report('b', 0.0)])
    times, a, b = history.columns(1)
    np.testing.assert_allclose(times, (-0.5, 0.0))
    np.testing.assert_allclose(a, (-3.0, -4.0))
    np.testing.assert_allclose(b, (-7.0, np.log10(LEAST)))
    np.testing.assert_allclose(history.columns(2)[2], (2.0, 1.0))


def test_plots_appear_with_units_after_two_solves():
    """Titles have units, and the time axis has a label; one solve is no curve."""
    made = []

    def add_uplot(**about):
        made.append(about)
        return SimpleNamespace(data=None, remove=lambda: None)

    hint, history = SimpleNamespace(), History()
    panel = PlotPanel(SimpleNamespace(add_uplot=add_uplot, add_html=lambda _: hint))
    history.add(0.0, [goal_report('arm', 0.0)])
    panel.refresh(history)
    assert not made
    history.add(0.1, [goal_report('arm', 0.0)])
    panel.refresh(history)
    assert not hint.visible
    titles = [plot['title'] for plot in made]
    assert titles == ['residual [log10 of m, rad]', 'solve time [ms]']
    assert all(plot['axes'][0]['label'] == 'time [s]' for plot in made)

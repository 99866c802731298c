"""Efforts and the distance to singularities as text."""

from math import inf

from ik_node.transmission.motor_load import MotorEffort
from ik_node.viewer.panels.effort_html import (
    efforts_html,
    HELD,
    MUCH,
    note_html,
    OVER,
    quantity,
    singularity_html,
)


def test_quantities_have_three_digits_and_a_unit():
    """Thousands have a prefix; zero has no sign."""
    found = [quantity(value, 'N') for value in (-1234.0, 999.6, 99.96, -1.234, 0.0123, -1e-9)]
    assert found == ['-1.23 kN', '1.00 kN', '100 N', '-1.23 N', '0.012 N', '0 N']
    assert quantity(25700.0, 'N m') == '25.7 kN m'


def test_bar_is_red_beyond_the_limit():
    """Its length and side say how much, and in which direction; the text says it too."""
    efforts = [
        MotorEffort('low', 10.0, 40.0, 'N m'),
        MotorEffort('high', -36.0, 40.0, 'N m'),
        MotorEffort('over', -90.0, 60.0, 'N'),
    ]
    text = efforts_html(efforts)
    for words in (
        f'left:50.0%;width:12.5%;background:{HELD}',
        f'left:5.0%;width:45.0%;background:{MUCH}',
        f'left:0.0%;width:50.0%;background:{OVER}',
        '10.0 N m',
        'low: 10.0 N m of 40.0 N m',
        '-90.0 N',
        '25 %',
        '150 %',
        '1 over the limit',
    ):
        assert words in text
    assert 'over the limit' not in efforts_html(efforts[:2])


def test_motors_without_limits_are_compared_with_each_other():
    """The largest of them has a whole bar, and there is no percentage."""
    free = [MotorEffort('a', 5.0, inf, 'N'), MotorEffort('b', -10.0, inf, 'N')]
    text = efforts_html(free)
    assert 'left:50.0%;width:25.0%' in text
    assert 'left:0.0%;width:50.0%' in text
    assert 'no limit known' in text
    assert '0 %<' not in text
    assert 'width:0.0%' in efforts_html([MotorEffort('a', 0.0, inf, 'N')])
    assert 'over the limit' in efforts_html([MotorEffort('weak', 1.0, 0.0, 'N')])


def test_distance_to_singularity_has_a_warning_if_it_is_near():
    """Red, with a word, and with what is lost."""
    far = singularity_html((0.62, ''))
    assert 'distance to singularity <b>62 %</b>' in far
    assert OVER not in far
    near = singularity_html((0.012, 'the actuators lose <hold>'))
    for words in ('1.2 %, near', OVER, 'lose &lt;hold&gt;'):
        assert words in near
    assert singularity_html(None) == ''
    assert 'a loop is open' in singularity_html(None, 'a loop is open')


def test_names_are_escaped():
    """A motor is called what it is called."""
    assert '<i>' not in efforts_html([MotorEffort('<i>', 1.0, 2.0, 'N')])
    assert note_html('<i>').count('<i>') == 0
    assert note_html('') == ''

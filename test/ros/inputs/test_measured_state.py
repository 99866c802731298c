"""Whole, partial and foreign joint states."""

from ik_node.ros.inputs.measured_state import MeasuredState
import numpy as np


def test_partial_joint_states_are_combined():
    """Joints that were never measured keep their value in the start."""
    measured = MeasuredState()
    measured.set_joint_names(['a', 'b', 'c'])
    measured.update(['c'], [3.0], 1.0)
    measured.update(['a'], [1.0], 2.0)
    measured.update(['a'], [1.5], 3.0)
    q = np.array([7.0, 8.0, 9.0])
    assert measured.start(q).tolist() == [1.5, 8.0, 3.0]
    assert q.tolist() == [7.0, 8.0, 9.0]


def test_unknown_joint_is_reported_once():
    """It is ignored, and named the first time."""
    measured = MeasuredState()
    measured.set_joint_names(['a'])
    assert measured.update(['x', 'a'], [1.0, 2.0], 0.0) == ('x',)
    assert measured.update(['x', 'y'], [1.0, 2.0], 0.0) == ('y',)
    assert measured.start(np.zeros(1)).tolist() == [2.0]


def test_joint_states_before_the_model_are_kept():
    """Values that arrive before the description count once its joints are known."""
    measured = MeasuredState()
    measured.update(['a', 'x'], [1.0, 2.0], 0.0)
    assert measured.start(np.zeros(1)).tolist() == [0.0]
    measured.set_joint_names(['b', 'a'])
    assert measured.start(np.zeros(2)).tolist() == [0.0, 1.0]


def test_state_older_than_the_timeout_is_stale():
    """Without a measurement or without a timeout nothing is stale."""
    measured = MeasuredState()
    assert not measured.is_stale(10.0, 1.0)
    measured.update([], [], 1.0)
    assert measured.is_stale(2.5, 1.0)
    assert not measured.is_stale(2.5, 0.0)


def test_each_joint_has_its_own_age():
    """A joint that is left out becomes stale alone; one never measured is not stale."""
    measured = MeasuredState()
    measured.set_joint_names(['a', 'b', 'c'])
    measured.update(['a', 'b'], [1.0, 2.0], 1.0)
    measured.update(['a'], [1.5], 5.0)
    assert measured.stale(['b', 'a', 'c'], 5.5, 1.0) == ('b',)
    assert measured.stale(['b', 'a', 'c'], 9.0, 1.0) == ('b', 'a')
    assert measured.stale(['b'], 9.0, 0.0) == ()
    assert measured.values(['c', 'b', 'a']) == {'b': 2.0, 'a': 1.5}


def test_clock_jump_back_restarts_the_ages():
    """Values are fresh after the jump, and stale again after the timeout."""
    measured = MeasuredState()
    measured.update(['a'], [1.0], 100.0)
    measured.rewind(5.0)
    assert not measured.is_stale(5.5, 1.0)
    assert measured.is_stale(6.5, 1.0)
    assert measured.stale(['a'], 6.5, 1.0) == ('a',)
    MeasuredState().rewind(5.0)


def test_values_of_another_robot_are_dropped():
    """Their times are dropped as well."""
    measured = MeasuredState()
    measured.update(['a', 'b'], [1.0, 2.0], 1.0)
    measured.set_joint_names(['b'])
    assert measured.values(['a', 'b']) == {'b': 2.0}
    assert measured.stale(['a', 'b'], 9.0, 1.0) == ('b',)

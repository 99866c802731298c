"""Whole, partial and foreign joint states."""

from ik_node.ros.inputs.joint_inputs import MeasuredState


def test_values_of_another_robot_are_dropped():
    measured = MeasuredState()
    measured.update(['a', 'b'], [1.0, 2.0], 1.0)
    measured.set_joint_names(['b'])
    assert measured.values(['a', 'b']) == {'b': 2.0}
    assert measured.stale(['a', 'b'], 9.0, 1.0) == ('b',)

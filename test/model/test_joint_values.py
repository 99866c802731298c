"""Values, target and rest pose of a joint as a pose and modulo turns, and a small step."""

from math import pi

from ik_node.errors import OptionError, ShapeError
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import quat_from_euler
import numpy as np
import pytest

SIX = (0.1, -0.2, 0.3, 0.4, 0.5, -0.6)


def joint_with(*dofs):
    """Return a joint 'knee' with these axes."""
    joint = Joint('knee')
    joint.set_dof(*dofs)
    return joint


@pytest.mark.parametrize('what', ['dof', 'target', 'rest_pose'])
def test_values_are_returned_as_pose(what):
    """Position, Euler angles and quaternion are copies."""
    joint = joint_with(*DOF)
    getattr(joint, f'set_{what}_values')(*SIX)
    position, euler, quat = (
        getattr(joint, f'get_{what}_{part}')() for part in ('position', 'euler', 'quaternion')
    )
    np.testing.assert_array_equal(position, SIX[:3])
    np.testing.assert_array_equal(euler, SIX[3:])
    np.testing.assert_allclose(quat, quat_from_euler(*SIX[3:]), atol=1e-15)
    position[0] = euler[0] = 9.0
    assert getattr(joint, f'get_{what}_value')('X') == 0.1
    assert getattr(joint, f'get_{what}_value')('EX') == 0.4


def test_set_dof_quaternion_finds_nearest_angles_within_limits():
    """The angles are those nearest to the present ones, within limits where possible."""
    joint = joint_with('EX', 'EY', 'EZ')
    wanted = (0.3, -0.2, 0.4)
    joint.set_dof_values(2 * pi, 0.0, 0.0)
    assert joint.set_dof_quaternion(*(2.5 * quat_from_euler(*wanted))) is False
    np.testing.assert_allclose(joint.get_dof_euler(), (0.3 + 2 * pi, -0.2, 0.4), atol=1e-14)
    joint.set_limits('EX', -1.0, 1.0)
    assert joint.set_dof_quaternion(*quat_from_euler(*wanted)) is False
    np.testing.assert_allclose(joint.get_dof_euler(), wanted, atol=1e-14)
    joint.set_limits('EZ', -0.1, 0.1)
    assert joint.set_dof_quaternion(*quat_from_euler(*wanted)) is True
    np.testing.assert_allclose(joint.get_dof_euler(), (0.3, -0.2, 0.1), atol=1e-14)


def test_set_dof_quaternion_needs_three_angles_and_valid_quaternion():
    """All three angles are needed, and a quaternion that is one."""
    with pytest.raises(OptionError, match="dof of 'knee': 'EY' cannot be used; use EX EZ"):
        joint_with('EX', 'EZ').set_dof_quaternion(0, 0, 0, 1)
    joint = joint_with('EX', 'EY', 'EZ')
    with pytest.raises(ShapeError, match="quaternion of the values of 'knee': expected a length"):
        joint.set_dof_quaternion(0, 0, 0, 0)
    with pytest.raises(ShapeError, match='expected finite numbers'):
        joint.set_dof_quaternion(0, 0, float('nan'), 1)


# -- modulo full turns


def test_nearest_values_add_turns_within_limits():
    """Lengths do not change."""
    joint = joint_with('X', 'EY', 'EZ')
    joint.set_dof_values(20.0, 6.0, -6.0)
    joint.set_limits('EZ', -6.5, 1.0)
    values = (0.5, 0, 0, 0, 0.5, 0.25)
    wanted = (0.5, 0, 0, 0, 0.5 + 2 * pi, 0.25 - 2 * pi)
    np.testing.assert_allclose(joint.nearest_values(values), wanted, atol=1e-14)
    joint.set_limits('EZ', -6.0, 1.0)
    assert joint.nearest_values(values)[5] == 0.25


def test_nearest_values_of_ball_use_any_equivalent_triple():
    """With all three angles any triple of the same orientation will do."""
    joint = joint_with('EX', 'EY', 'EZ')
    joint.set_dof_values(pi, pi - 0.1, pi)
    found = joint.nearest_values((0, 0, 0, 0.1, 0.2, 0.3))
    np.testing.assert_allclose(found[3:], (pi + 0.1, pi - 0.2, pi + 0.3), atol=1e-14)
    joint.set_limits('EY', -2, 2)
    assert joint.nearest_values((0, 0, 0, 0.1, 0.2, 0.3))[4] == 0.2
    lock = joint.nearest_values((0, 0, 0, 0.6, pi / 2, 0), (0, 0, 0, 0, pi / 2, 0))
    np.testing.assert_allclose(lock[3:], (0.3, pi / 2, -0.3), atol=1e-14)


def test_tracked_joint_keeps_its_turns():
    """With track_joint_wrap turns count, and nothing is moved."""
    joint = joint_with('EX', 'EY', 'EZ')
    joint.track_joint_wrap = True
    values = (0, 0, 0, 7.0, pi / 2, -7.0)
    assert joint.nearest_values(values).tolist() == list(values)
    joint.set_target_values(7.0, 1.0, -7.0)
    joint.try_minimize_euler_angles()
    assert joint.get_target_euler().tolist() == [7.0, 1.0, -7.0]


def test_try_minimize_euler_angles_rewrites_target_and_rest_pose():
    """Solvers detect the change."""
    joint = joint_with('EZ')
    joint.set_dof_values(6.0)
    joint.set_target_values(0.25)
    joint.set_rest_pose_values(-0.25)
    before = joint.revision.settings
    joint.try_minimize_euler_angles()
    assert joint.get_target_value('EZ') == pytest.approx(0.25 + 2 * pi)
    assert joint.get_rest_pose_value('EZ') == pytest.approx(2 * pi - 0.25)
    assert joint.get_dof_value('EZ') == 6.0
    assert joint.revision.settings > before


# -- finite differences


def test_delta_world_matrix_is_pose_of_changed_value():
    """The joint does not change."""
    base, joint = Link('base'), joint_with(*DOF)
    base.set_euler(0.3, 0.2, 0.1)
    base.add_child(joint)
    joint.set_position(1, 2, 3)
    for dof in DOF:
        joint.set_dof_values(*SIX)
        before = joint.matrix_world
        found, inverted = joint.get_delta_world_matrix(dof, 1e-3)
        assert not inverted
        np.testing.assert_array_equal(joint.matrix_world, before)
        joint.set_dof_value(dof, SIX[dof] + 1e-3)
        np.testing.assert_allclose(found, joint.matrix_world, atol=1e-15)


@pytest.mark.parametrize(
    ('value', 'delta', 'reached', 'inverted'),
    [
        *((0.95, 0.1, 0.85, True), (-1.0, -0.1, -0.9, True)),
        *((0.0, 3.0, 3.0, False), (1.0, -0.1, 0.9, False)),
    ],
)
def test_delta_reverses_step_at_limit(value, delta, reached, inverted):
    """If there is more room on the other side."""
    joint = joint_with('X')
    joint.set_limits('X', -1, 1)
    joint.set_dof_values(value)
    found = joint.get_delta_world_matrix('X', delta)
    assert found[0][0, 3] == pytest.approx(reached)
    assert found[1] is inverted

"""Values, limits, targets and rest pose of a joint, and its motion D."""

from ik_node.errors import OptionError, ShapeError
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import pose_matrix, quat_from_euler
import numpy as np
import pytest


@pytest.fixture
def joint():
    """Return a joint 'knee' with X and EZ."""
    made = Joint('knee')
    made.set_dof(DOF.X, DOF.EZ)
    return made


def test_set_dof_resets_everything(joint):
    """Values are zero, without limits, targets, rest pose, locks or couplings."""
    master = Joint('master')
    master.set_dof(DOF.X)
    joint.set_min_limits(-1, -1)
    joint.set_max_limits(1, 1)
    joint.set_dof_values(0.5, 0.5)
    joint.set_target_values(0.5, 0.5)
    joint.set_rest_pose_values(0.5, 0.5)
    joint.lock()
    joint.couple(DOF.X, master, DOF.X, (0, 1))
    joint.max_velocity[DOF.X] = 2.0
    joint.max_effort[DOF.X] = 3.0
    joint.set_dof(DOF.X, DOF.EZ)
    for array in (joint.dof_values, joint.dof_target, joint.dof_rest_pose):
        assert array.tolist() == [0] * 6
    assert joint.min_dof_limit.tolist() == [-np.inf] * 6
    assert joint.max_dof_limit.tolist() == [np.inf] * 6
    assert joint.max_velocity.tolist() == [np.inf] * 6
    assert joint.max_effort.tolist() == [np.inf] * 6
    assert not joint.target_set
    assert not joint.rest_pose_set
    assert not joint.locked.any()
    assert joint.couplings == {}


def test_unordered_duplicate_or_unknown_axes_are_refused():
    """The order matters for the bulk setters, so a wrong one is refused."""
    joint = Joint()
    with pytest.raises(OptionError, match=r"dof: \['EZ', 'X'\] .* the order X Y Z EX EY EZ"):
        joint.set_dof(DOF.EZ, DOF.X)
    with pytest.raises(OptionError, match='at most once'):
        joint.set_dof(DOF.X, DOF.X)
    with pytest.raises(OptionError, match='some of X Y Z EX EY EZ'):
        joint.set_dof(6)


def test_motion_equals_product_of_elementary_motions():
    """D = T(x, y, z) Rz(ez) Ry(ey) Rx(ex), after the joint's own pose."""
    joint = Joint()
    joint.set_dof(*DOF)
    joint.set_position(1, 2, 3)
    joint.set_euler(0.1, 0.2, 0.3)
    joint.set_dof_values(0.5, -0.3, 0.2, 0.4, 0.5, 0.6)
    motion = pose_matrix((0.5, -0.3, 0.2), quat_from_euler(0.4, 0.5, 0.6))
    np.testing.assert_allclose(joint.matrix_dof, motion, atol=1e-15)
    np.testing.assert_allclose(joint.matrix_world, joint.matrix @ motion, atol=1e-15)


def test_setter_clamps_value_and_returns_true(joint):
    """A value on the limit is inside."""
    joint.set_min_limits(-1, -2)
    joint.set_max_limits(1, 2)
    assert joint.set_dof_value(DOF.X, 3.0) is True
    assert joint.get_dof_value(DOF.X) == 1.0
    assert joint.set_dof_value(DOF.X, 1.0) is False
    assert joint.set_dof_values(0.5, -9.0) is True
    assert joint.dof_values[[0, 5]].tolist() == [0.5, -2.0]
    assert joint.set_target_value(DOF.EZ, 5.0) is True
    assert joint.set_rest_pose_value(DOF.EZ, 5.0) is True
    assert joint.get_target_value(DOF.EZ) == joint.get_rest_pose_value(DOF.EZ) == 2.0


def test_limit_clamps_value_target_and_rest_pose(joint):
    """The setter returns True if it clamped the value."""
    joint.set_dof_values(0.0, 1.0)
    joint.set_target_values(0.0, 1.5)
    joint.set_rest_pose_values(0.0, -1.5)
    assert joint.set_max_limit(DOF.EZ, 0.5) is True
    assert joint.set_min_limit(DOF.EZ, -0.5) is False
    assert joint.get_dof_value(DOF.EZ) == joint.get_target_value(DOF.EZ) == 0.5
    assert joint.get_rest_pose_value(DOF.EZ) == -0.5
    assert (joint.get_min_limit(DOF.EZ), joint.get_max_limit(DOF.EZ)) == (-0.5, 0.5)
    assert joint.set_min_limits(0.1, -0.5) is True
    assert joint.set_max_limits(0.05 + 0.1, 0.2) is True


def test_infinite_limit_means_no_limit(joint):
    """Both limits must not be infinite with the same sign."""
    joint.set_limits('X', np.inf, 2.0)
    joint.set_max_limits(np.inf, np.inf)
    for sign in (1.0, -1.0):
        with pytest.raises(OptionError, match=r"limits of 'knee' on X: .*-inf and inf for none"):
            joint.set_limits('X', sign * np.inf, sign * np.inf)
    assert joint.min_dof_limit.tolist() == [-np.inf] * 6
    assert joint.max_dof_limit.tolist() == [np.inf] * 6


def test_crossed_limits_are_refused(joint):
    """Both limits can be changed at once."""
    joint.set_limits(DOF.X, -1, 1)
    with pytest.raises(OptionError, match=r"limits of 'knee' on X: .*lower <= upper"):
        joint.set_min_limit(DOF.X, 2)
    assert joint.get_min_limit(DOF.X) == -1
    joint.set_limits(DOF.X, 2, 3)
    assert joint.get_dof_value(DOF.X) == 2


@pytest.mark.parametrize('what', ['dof_values', 'target_values', 'rest_pose_values'])
def test_wrong_number_of_values_and_nan_are_refused(joint, what):
    """Nothing is written."""
    setter = getattr(joint, f'set_{what}')
    with pytest.raises(ShapeError, match=r"of 'knee': expected 2 \(X EZ\), got 1"):
        setter(1.0)
    with pytest.raises(ShapeError, match="of 'knee': expected finite numbers"):
        setter(1.0, float('nan'))
    with pytest.raises(ShapeError, match="of 'knee': expected finite numbers"):
        setter(1.0, float('inf'))
    assert not joint.dof_values.any()
    assert not joint.target_set
    assert not joint.rest_pose_set


def test_missing_axis_reads_zero_and_cannot_be_set(joint):
    """The error lists the existing axes."""
    with pytest.raises(OptionError, match="dof of 'knee': 'EY' cannot be used; use X EZ"):
        joint.set_dof_value(DOF.EY, 1.0)
    assert joint.get_dof_value('EY') == 0.0
    with pytest.raises(OptionError, match='none: it is rigid'):
        Joint('weld').set_min_limit('X', 0.0)


def test_world_setters_place_moved_frame():
    """Also under a turned parent."""
    base, joint = Link('base'), Joint('hip')
    base.set_position(1, 0, 0)
    base.set_euler(0.3, 0.2, -0.6)
    base.add_child(joint)
    joint.set_dof(*DOF)
    joint.set_dof_values(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    wanted = quat_from_euler(0.5, 0.1, -0.2)
    joint.set_world_quaternion(*wanted)
    joint.set_world_position(3, 2, 1)
    np.testing.assert_allclose(joint.get_world_position(), (3, 2, 1), atol=1e-14)
    np.testing.assert_allclose(joint.get_world_quaternion(), wanted, atol=1e-14)

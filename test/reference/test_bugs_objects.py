"""Faults of the reference library's objects that ik_node does not have."""

from itertools import pairwise

from ik_node.errors import OptionError, ShapeError
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import quat_from_euler
import numpy as np
import pytest
from scipy.spatial.transform import Rotation


@pytest.mark.parametrize('made', [Frame, Link, Joint, Goal])
def test_values_are_stored_in_double_precision(made):
    """Poses, matrices, values and limits of the reference library have 32 bits."""
    frame = made('it')
    frame.set_position(0.1, 0.2, 0.3)
    assert frame.get_world_position().tolist() == [0.1, 0.2, 0.3]
    arrays = {
        name: getattr(frame, name)
        for name in dir(frame)
        if isinstance(getattr(frame, name), np.ndarray)
    }
    assert {'position', 'quaternion', 'matrix', 'matrix_world'} <= set(arrays)
    assert {a.dtype for a in arrays.values()} <= {np.dtype(np.float64), np.dtype(bool)}


@pytest.mark.parametrize('own', [0.0, 0.5, 2.0])
@pytest.mark.parametrize('parent', [None, (0.3, -0.4, 0.7)])
def test_world_orientation_accounts_for_parent(own, parent):
    """The reference library uses the frame's own rotation: 0.5 becomes -0.5."""
    frame = Frame('hand')
    if parent is not None:
        above = Frame('arm')
        above.set_euler(*parent)
        above.add_child(frame)
    frame.set_euler(0, 0, own)
    frame.set_world_quaternion(*quat_from_euler(0, 0, 0.5))
    wanted = Rotation.from_euler('z', 0.5).as_matrix()
    np.testing.assert_allclose(frame.matrix_world[:3, :3], wanted, atol=1e-15)


@pytest.mark.parametrize('what', ['dof', 'target', 'rest_pose'])
def test_quaternions_of_values_are_in_radians(what):
    """The reference library reads radians as degrees."""
    joint = Joint('knee')
    joint.set_dof('EX', 'EY', 'EZ')
    getattr(joint, f'set_{what}_values')(0.3, -1.0, 0.5)
    quat = getattr(joint, f'get_{what}_quaternion')()
    wanted = Rotation.from_euler('xyz', (0.3, -1.0, 0.5))
    assert (Rotation.from_quat(quat) * wanted.inv()).magnitude() < 1e-15


def test_setting_target_returns_whether_it_was_clamped():
    """The reference library returns nothing."""
    joint = Joint('knee')
    joint.set_dof('EZ')
    joint.set_limits('EZ', -1, 1)
    assert joint.set_target_value('EZ', 2.0) is True
    assert joint.set_target_value('EZ', 0.5) is False


@pytest.mark.parametrize('dof', [6, -1, 'W'])
def test_seventh_axis_is_refused(dof):
    """The reference library accepts 6 and accesses memory beyond six axes."""
    joint = Joint('knee')
    joint.set_dof(*DOF)
    for call in (joint.get_dof_value, joint.get_min_limit, joint.lock, joint.set_dof):
        with pytest.raises(OptionError, match='allowed: some of X Y Z EX EY EZ'):
            call(dof)
    for name in ('dof_value', 'target_value', 'rest_pose_value', 'min_limit', 'max_limit'):
        with pytest.raises(OptionError, match='allowed: some of X Y Z EX EY EZ'):
            getattr(joint, f'set_{name}')(dof, 0.0)
    assert not joint.dof_values.any()


def test_stopped_upward_traversal_can_be_repeated():
    """In the reference library a stopped traversal leaves a mark."""
    frames = [Frame(name) for name in 'abcd']
    for child, parent in pairwise(frames):
        parent.add_child(child)
    seen = []
    for _ in range(3):
        frames[0].traverse_parents(lambda frame: seen.append(frame.name) or frame.name == 'c')
    assert seen == 3 * ['b', 'c']
    seen.clear()
    frames[0].traverse_parents(lambda frame: seen.append(frame.name))
    assert seen == ['b', 'c', 'd']


def test_failed_upward_traversal_leaves_no_state():
    """After an exception in the callback the next traversal is complete."""
    child, parent = Frame('child'), Frame('parent')
    parent.add_child(child)
    with pytest.raises(ZeroDivisionError):
        child.traverse_parents(lambda frame: 1 / 0)
    seen = []
    child.traverse_parents(seen.append)
    assert seen == [parent]


def test_limit_clamps_target_and_rest_pose():
    """The reference library clamps the value only."""
    joint = Joint('knee')
    joint.set_dof('EZ')
    joint.set_target_values(2.0)
    joint.set_rest_pose_values(-2.0)
    joint.set_min_limits(-1.0)
    joint.set_max_limits(1.0)
    assert (joint.get_target_value('EZ'), joint.get_rest_pose_value('EZ')) == (1.0, -1.0)


def test_limit_of_missing_axis_is_refused():
    """The reference library writes it silently."""
    joint = Joint('knee')
    joint.set_dof('EZ')
    for call in (joint.set_min_limit, joint.set_max_limit):
        with pytest.raises(OptionError, match="dof of 'knee': 'X' is not allowed; allowed: EZ"):
            call('X', 1.0)


def test_too_few_values_are_refused():
    """The reference library silently sets the first axes only."""
    joint = Joint('knee')
    joint.set_dof('X', 'EZ')
    with pytest.raises(ShapeError, match=r'expected 2 \(X EZ\), got 1'):
        joint.set_dof_values(1.0)
    assert not joint.dof_values.any()


def test_removed_child_can_be_replaced():
    """In the reference library the joint keeps its child and accepts no other."""
    joint, first, second = Joint('knee'), Link('first'), Link('second')
    joint.add_child(first)
    joint.remove_child(first)
    assert joint.child is None
    joint.add_child(second)
    assert joint.child is second


def test_attach_and_detach_under_moved_joint_keep_world_pose():
    """The reference library removes the motion twice, and the link jumps."""
    joint, link = Joint('knee'), Link('shin')
    joint.set_dof('X', 'EZ')
    joint.set_dof_values(0.5, 0.3)
    link.set_position(1, 2, 3)
    before = link.matrix_world
    for change in (joint.attach_child, joint.detach_child):
        change(link)
        np.testing.assert_allclose(link.matrix_world, before, atol=1e-15)

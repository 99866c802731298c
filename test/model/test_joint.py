"""Joints: their child, closures, locks and couplings."""

from ik_node.errors import OptionError, ShapeError, TopologyError
from ik_node.model.dof import DOF
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Link
import numpy as np
import pytest


@pytest.fixture
def joint():
    """Return a placed and turned joint 'knee' that is moved in all six DoF."""
    made = Joint('knee')
    made.set_position(1, 2, 3)
    made.set_euler(0.3, 0.4, 0.5)
    made.set_dof(*DOF)
    made.set_dof_values(0.1, -0.2, 0.3, 0.4, 0.5, -0.6)
    return made


def test_joint_accepts_one_link_as_child(joint):
    """Only a link, and only one; it becomes `child`."""
    link = Link('shin')
    joint.add_child(link)
    assert joint.child is link
    assert not joint.is_closure
    with pytest.raises(TopologyError, match="joint 'knee' cannot take 'other': it carries 'shin'"):
        joint.add_child(Link('other'))
    with pytest.raises(TopologyError, match="it carries 'shin'"):
        joint.make_closure(Link('other'))
    with pytest.raises(TopologyError, match="'ankle' cannot become the child of joint 'knee'"):
        Joint('knee').add_child(Joint('ankle'))


def test_link_accepts_only_joints_as_children(joint):
    """A link refuses links and plain frames, and takes a joint."""
    link = Link('thigh')
    with pytest.raises(TopologyError, match=r"'shin' .* child of link 'thigh': only joints can"):
        link.add_child(Link('shin'))
    with pytest.raises(TopologyError, match='only joints can'):
        link.add_child(Frame('frame'))
    link.add_child(joint)
    assert link.children == [joint]


def test_remove_child_undoes_tree_and_closure(joint):
    """A removed child can be replaced; another frame is refused."""
    link, stranger = Link('foot'), Link('stranger')
    joint.make_closure(link)
    with pytest.raises(TopologyError, match="'stranger' is not the child of joint 'knee'"):
        joint.remove_child(stranger)
    joint.remove_child(link)
    assert (joint.child, joint.is_closure, link.closure_joints) == (None, False, [])
    joint.add_child(link)
    joint.remove_child(link)
    assert (joint.child, link.parent, joint.children) == (None, None, [])
    with pytest.raises(TopologyError, match="'foot' is not the child"):
        joint.remove_child(link)


def test_attach_and_detach_account_for_joint_motion(joint):
    """A link keeps its world pose."""
    link = Link('shin')
    link.set_position(-1, 0.5, 2)
    link.set_euler(1, 2, 3)
    before = link.matrix_world
    joint.attach_child(link)
    assert joint.child is link
    np.testing.assert_allclose(link.matrix_world, before, atol=1e-14)
    joint.detach_child(link)
    assert joint.child is None
    np.testing.assert_allclose(link.matrix_world, before, atol=1e-14)


def test_closure_error_is_relative_pose_in_world_axes(joint):
    """Of the joint's moved frame relative to the link's."""
    link = Link('foot')
    joint.make_closure(link)
    link.set_position(0.5, 0.25, -1)
    link.set_euler(0.2, -0.1, 0.7)
    position, rotation = joint.get_closure_error()
    wanted = joint.get_world_position() - link.get_world_position()
    np.testing.assert_allclose(position, wanted, atol=1e-15)
    angle = np.linalg.norm(rotation)
    axis = rotation / angle
    k = np.cross(np.eye(3), axis)
    turn = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    np.testing.assert_allclose(
        turn @ link.matrix_world[:3, :3], joint.matrix_world[:3, :3], atol=1e-14
    )


@pytest.fixture
def three():
    """Return three joints a, b, c with EZ each."""
    joints = [Joint(name) for name in 'abc']
    for joint in joints:
        joint.set_dof(DOF.EZ)
    return joints


def test_coupling_is_polynomial_of_master(three):
    """The rule q = c0 + c1 x + c2 x^2."""
    a, b, _ = three
    b.couple(DOF.EZ, a, DOF.EZ, [1, -2, 3])
    coupling = b.couplings[DOF.EZ]
    assert (coupling.master, coupling.master_dof) == (a, DOF.EZ)
    assert coupling.coefficients == (1.0, -2.0, 3.0)
    assert coupling.value(0.5) == 1 - 2 * 0.5 + 3 * 0.25
    b.uncouple('EZ')
    assert b.couplings == {}


def test_cyclic_couplings_are_refused(three):
    """The error names the joints of the cycle."""
    a, b, c = three
    b.couple(DOF.EZ, a, DOF.EZ, [0, 1])
    c.couple(DOF.EZ, b, DOF.EZ, [0, 1])
    with pytest.raises(TopologyError, match="'a' follows 'c' follows 'b' follows 'a'"):
        a.couple(DOF.EZ, c, DOF.EZ, [0, 1])
    with pytest.raises(TopologyError, match="'a' follows 'a'"):
        a.couple(DOF.EZ, a, DOF.EZ, [0, 1])
    assert a.couplings == {}


def test_coupling_refuses_bad_coefficients_and_axes(three):
    """Coefficients are finite and at least one; both axes exist."""
    a, b, _ = three
    for bad in ([], [float('nan')], [float('inf'), 1.0]):
        with pytest.raises(ShapeError, match="coefficients of the coupling of 'b'"):
            b.couple(DOF.EZ, a, DOF.EZ, bad)
    with pytest.raises(OptionError, match="dof of 'a'"):
        b.couple(DOF.EZ, a, DOF.X, [0, 1])
    with pytest.raises(OptionError, match="dof of 'b'"):
        b.couple(DOF.X, a, DOF.EZ, [0, 1])

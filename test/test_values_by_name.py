"""Joint values by name are written to a robot's graph and read back, with the root pose."""

from ik_node.conversions import robot_to_ik_root, set_ik_from_urdf, set_urdf_from_ik
from ik_node.errors import OptionError, ShapeError, TopologyError, UnknownFrameError
from ik_node.model.dof import DOF
from ik_node.robot import load_robot
from ik_node.solver.solver import Solver
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.fourbar_urdf import MACHINE
from support.naive import by_name, Naive, pose


@pytest.fixture
def machine():
    """Return the four-bar with its loop closed."""
    return load_robot(MACHINE)


def rigid(seed=0):
    """Draw a pose as (position, quat_xyzw)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, 3), Rotation.random(random_state=seed).as_quat()


def test_values_and_root_pose_make_round_trip(machine):
    """Every link has the same pose as in the robot."""
    root = robot_to_ik_root(machine)
    machine.q = [0.3, 1.2, -0.4, 0.3, 0.25, 0.1, -0.2, 0.4]
    values = dict(zip(machine.joint_names, machine.q, strict=True))
    position, quat = rigid()
    set_ik_from_urdf(root, {**values, 'root': (position, quat)})
    world = Naive([root])
    for name in machine.links:
        wanted = pose(position, quat) @ machine.forward(machine.q, name)
        np.testing.assert_allclose(world.world(by_name(root)[name]), wanted, atol=1e-12)
    found = {}
    set_urdf_from_ik(found, root)
    assert set(found) == {*machine.joint_names, 'root'}
    assert {name: found[name] for name in values} == values
    np.testing.assert_allclose(found['root'][0], position, atol=1e-12)
    np.testing.assert_allclose(pose(*found['root']), pose(position, quat), atol=1e-12)
    again = robot_to_ik_root(machine)
    set_ik_from_urdf(again, found)
    np.testing.assert_allclose(again.dof_values, root.dof_values, atol=1e-12)


@pytest.mark.parametrize(('form', 'placed'), [('pair', True), ('matrix', False)])
def test_root_pose_sets_position_and_rotation(machine, form, placed):
    """Both forms work with any pose of the joint's own frame."""
    root = robot_to_ik_root(machine)
    if placed:
        root.set_position(1, 2, 3)
        root.set_euler(0.3, -0.4, 0.5)
    position, quat = rigid(3)
    wanted = pose(position, quat)
    set_ik_from_urdf(root, {'root': wanted if form == 'matrix' else (position, quat)})
    np.testing.assert_allclose(root.matrix_world, wanted, atol=1e-12)
    np.testing.assert_allclose(Naive([root]).world(root.child), wanted, atol=1e-12)


def test_joint_with_several_axes_accepts_sequence_or_single_axes(machine):
    """The same form is returned on request."""
    root = robot_to_ik_root(machine)
    wrist = by_name(root)['wrist']
    set_ik_from_urdf(root, {'wrist': (0.1, 0.2, 0.3)})
    assert wrist.dof_values.tolist() == [0, 0, 0, 0.1, 0.2, 0.3]
    set_ik_from_urdf(root, {'wrist.EY': -0.5})
    assert wrist.dof_values.tolist() == [0, 0, 0, 0.1, -0.5, 0.3]
    values = {'wrist': None, '__world_joint__.Z': None, 'mine': 'kept'}
    set_urdf_from_ik(values, root)
    assert values['wrist'].tolist() == [0.1, -0.5, 0.3]
    assert not {'wrist.EX', '__world_joint__.X'} & set(values)
    assert values['__world_joint__.Z'] == 0.0
    assert values['mine'] == 'kept'
    values['wrist'][0] = 9.0
    assert wrist.dof_values[DOF.EX] == 0.1


def test_mimic_joint_follows_its_master(machine):
    """The master keeps the limits of its follower."""
    root = robot_to_ik_root(machine)
    frames = by_name(root)
    set_ik_from_urdf(root, {'nod': 0.2, 'shake': -0.3})
    assert frames['nod'].dof_values[DOF.EZ] == 0.2
    assert frames['shake'].dof_values[DOF.Z] == pytest.approx(0.2)
    set_ik_from_urdf(root, {'nod': 1.0})  # shake ends at 0.3, so nod at 0.4
    assert frames['nod'].dof_values[DOF.EZ] == pytest.approx(0.4)
    assert frames['shake'].dof_values[DOF.Z] == pytest.approx(0.3)
    assert Naive([root]).coupling_gap() <= 1e-12
    assert Naive([root]).limit_excess() <= 0.0


# -- refusals


@pytest.mark.parametrize(
    ('values', 'error', 'reason'),
    [
        ({'knee': 1.0}, UnknownFrameError, "no movable joint named 'knee'; known: .*drive"),
        ({'painted': 0.0}, UnknownFrameError, "no movable joint named 'painted'"),
        ({'drive': (1, 2)}, ShapeError, 'drive: expected'),
        ({'drive': 'fast'}, ShapeError, 'drive: expected'),
        ({'wrist': 1.0}, ShapeError, 'wrist: expected'),
        ({'wrist': (0, 0, np.inf)}, ShapeError, 'wrist: expected'),
        ({'root': 5}, ShapeError, r"'root': expected \(position \(3,\), quat_xyzw"),
        ({'root': np.diag((1, 1, -1, 1))}, ShapeError, "pose of 'root': expected"),
        ({'root': ((0, 0, 0), (0, 0, 0, 0))}, ShapeError, 'root'),
        ({'root': ((0, 0), (0, 0, 0, 1))}, ShapeError, 'root'),
    ],
)
def test_refused_values_are_named_and_nothing_changes(machine, values, error, reason):
    """The error names the value."""
    root = robot_to_ik_root(machine)
    before = Solver(root).q
    with pytest.raises(error, match=reason):
        set_ik_from_urdf(root, {'drive': 1.0, 'root': rigid(), **values})
    np.testing.assert_array_equal(Solver(root).q, before)


def test_root_pose_needs_free_joint(machine):
    """Without a free joint, returned values have no root pose."""
    with pytest.raises(TopologyError, match="'ground' is not a joint with all six axes"):
        set_ik_from_urdf(machine.root, {'root': rigid()})
    values = {}
    set_urdf_from_ik(values, machine.root)
    assert list(values) == Solver(machine.root).joint_names


def test_swapped_arguments_raise_error_with_right_order(machine):
    """The order is said."""
    root, values = robot_to_ik_root(machine), {}
    with pytest.raises(OptionError, match=r'the call is set_ik_from_urdf\(ik_root, values\)'):
        set_ik_from_urdf(values, root)
    with pytest.raises(OptionError, match=r'the call is set_urdf_from_ik\(values, ik_root\)'):
        set_urdf_from_ik(root, values)

"""Constraints: residual rows and their axes, and the settings of goals and closures."""

from ik_node.errors import OptionError, ShapeError, TopologyError
from ik_node.model.constraint import Closure, Constraint, Goal
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import quat_from_euler, quat_to_matrix
import numpy as np
import pytest


def closed(constraint, offset=True):
    """Make a constraint between a turned parent and another link; return the poses of B and A."""
    parent, link = Link('parent'), Link('hand')
    parent.set_position(0.3, 0.1, -0.2)
    parent.set_euler(0.4, -0.5, 0.6)
    parent.add_child(constraint)
    constraint.set_position(1, 2, 3)
    constraint.set_euler(0.3, 0.2, 0.1)
    link.set_position(1.5, 1.0, 2.0)
    link.set_euler(-0.2, 0.5, 0.9)
    if offset:
        constraint.set_offset((0.1, 0.2, 0.3), quat_from_euler(0.5, 0, 0.25))
    constraint.make_closure(link)
    frame_a = link.matrix_world.copy()
    if offset:
        moved = np.eye(4)
        moved[:3, :3] = quat_to_matrix(quat_from_euler(0.5, 0, 0.25))
        moved[:3, 3] = (0.1, 0.2, 0.3)
        frame_a = frame_a @ moved
    return constraint.matrix_world, frame_a


def skew_log(rotation):
    """Return the rotation vector of a 3x3 matrix by the textbook formula, below half a turn."""
    angle = np.arccos((np.trace(rotation) - 1) / 2)
    odd = rotation - rotation.T
    return angle / (2 * np.sin(angle)) * np.array((odd[2, 1], odd[0, 2], odd[1, 0]))


@pytest.mark.parametrize('axes', ['goal', 'link', 'world'])
def test_full_residual_is_relative_pose(axes):
    """Position and rotation vector of A relative to B in the chosen axes."""
    constraint = Constraint('pin')
    constraint.axes = axes
    b, a = closed(constraint)
    gap = a[:3, 3] - b[:3, 3]
    turn = {'goal': b[:3, :3].T, 'link': a[:3, :3].T, 'world': np.eye(3)}[axes]
    if axes == 'world':
        rotation = skew_log(a[:3, :3] @ b[:3, :3].T)
    else:
        rotation = skew_log(b[:3, :3].T @ a[:3, :3])
    wanted = np.concatenate((turn @ gap, rotation))
    np.testing.assert_allclose(constraint.get_residual(), wanted, atol=1e-14)


@pytest.mark.parametrize('dofs', ['Y EZ', 'EX EY EZ', ''])
def test_axis_subset_selects_rows_of_full_residual(dofs):
    """For zero, one or three rotational axes."""
    constraint = Constraint('some')
    closed(constraint)
    full = constraint.get_residual()
    constraint.set_dof(*dofs.split())
    rows = [DOF[name] for name in dofs.split()]
    np.testing.assert_array_equal(constraint.get_residual(), full[rows])


@pytest.mark.parametrize(('axes', 'free'), [('goal', 0), ('link', 1), ('world', 2)])
def test_two_rotational_axes_align_third_axis(axes, free):
    """The rows vanish only for turns about the free axis, and measure the angle otherwise."""
    constraint, link = Constraint('hinge'), Link('door')
    constraint.axes = axes
    constraint.set_dof(*[dof for dof in list(DOF)[3:] if dof != DOF.EX + free])
    constraint.make_closure(link)
    base = quat_from_euler(0.5, -0.4, 0.3) if axes != 'world' else (0, 0, 0, 1)
    constraint.set_quaternion(*base)
    angles = np.zeros(3)
    angles[free] = 2.5
    spun = quat_to_matrix(base) @ quat_to_matrix(quat_from_euler(*angles))
    link._set_world_matrix(np.block([[spun, np.zeros((3, 1))], [0, 0, 0, 1]]))
    np.testing.assert_allclose(constraint.get_residual(), (0, 0), atol=1e-14)
    tilt = np.zeros(3)
    tilt[(free + 1) % 3] = 0.2
    tilted = spun @ quat_to_matrix(quat_from_euler(*tilt))
    link._set_world_matrix(np.block([[tilted, np.zeros((3, 1))], [0, 0, 0, 1]]))
    assert np.linalg.norm(constraint.get_residual()) == pytest.approx(0.2, abs=1e-14)


def test_constraint_refuses_values_and_children():
    """Its axes are constrained, so it has no values, limits or locks."""
    goal, link = Goal('hand'), Link('link')
    for name in ('set_dof_value', 'dof_values', 'set_min_limit', 'lock', 'couple', 'matrix_dof'):
        assert hasattr(Joint, name) or hasattr(Joint(), name)
        assert not hasattr(goal, name)
    for call in (goal.add_child, goal.attach_child):
        with pytest.raises(TopologyError, match="'hand' is a goal, it takes no child"):
            call(link)
    with pytest.raises(TopologyError, match="'pin' is a closure, it takes no child"):
        Closure('pin').add_child(link)
    with pytest.raises(TopologyError, match="joint 'hand' is not a closure"):
        goal.get_residual()


def test_invalid_setting_is_refused_by_name():
    """The error names the setting."""
    made = Constraint('pin')
    with pytest.raises(OptionError, match=r"axes of 'pin': 'local' .* world goal link"):
        made.axes = 'local'
    with pytest.raises(OptionError, match=r"kind of 'pin'.* frame universal distance"):
        made.kind = 'ball'
    for name in ('weight', 'distance', 'tolerance'):
        for bad in (-1.0, float('nan'), float('inf')):
            with pytest.raises(OptionError, match=f"{name} of 'pin'.* finite number, 0 or more"):
                setattr(made, name, bad)
    with pytest.raises(ShapeError, match="tolerance of 'pin': expected one number, or two"):
        made.tolerance = (1.0, 2.0, 3.0)
    with pytest.raises(ShapeError, match=r"offset position of 'pin': expected shape \(3,\)"):
        made.set_offset((1, 2))
    with pytest.raises(ShapeError, match='offset quaternion'):
        made.set_offset((1, 2, 3), (0, 0, 1))
    with pytest.raises(ShapeError, match='finite numbers'):
        made.set_offset((1, 2, float('nan')))


def test_priority_must_be_nonnegative_integer():
    """A whole number, 0 or more."""
    goal = Goal('hand')
    goal.priority = 3
    assert goal.priority == 3
    for bad in (-1, 0.5, True):
        with pytest.raises(OptionError, match="priority of 'hand'"):
            goal.priority = bad


def test_closure_refuses_unknown_type_and_other_axes():
    """Closures use the axes of frame B; the error lists the known types."""
    with pytest.raises(OptionError, match=r"closure type: 'screw' .* weld fixed point"):
        Closure('c', 'screw')
    closure = Closure('c')
    closure.axes = 'goal'
    with pytest.raises(OptionError, match=r"axes of 'c': 'world' .*goal"):
        closure.axes = 'world'

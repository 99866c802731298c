# flake8: noqa: E203
"""Which gizmos a goal needs, and along which axes they lie."""

from itertools import product

from ik_node.robot import from_dh
from ik_node.viewer.panels.handle_panel import HandleStyle
from ik_node.viewer.stage.gizmo_axes import constrained_axes, gizmos_for, handle_axes
import numpy as np
import pytest

FLAGS = list(product((False, True), repeat=3))


@pytest.mark.parametrize('move', FLAGS)
@pytest.mark.parametrize('turn', FLAGS)
def test_gizmos_have_exactly_the_requested_axes(move, turn):
    """The arrows and rings of all parts together, as viser draws them, are what is asked for."""
    arrows, rings = [], []
    for part in gizmos_for(move, turn):
        arrows += [at for at in range(3) if part.moves and part.axes[at]]
        others = [part.axes[:at] + part.axes[at + 1 :] for at in range(3)]
        rings += [at for at in range(3) if part.turns and all(others[at])]
        assert part.moves or part.turns
    assert sorted(arrows) == [at for at in range(3) if move[at]]
    assert sorted(rings) == [at for at in range(3) if turn[at]]


def test_usual_goals_need_one_gizmo():
    """A whole pose, a place, a place in a plane with its angle."""
    everything, nothing = (True,) * 3, (False,) * 3
    assert len(gizmos_for(everything, everything)) == 1
    assert len(gizmos_for(everything, nothing)) == 1
    assert len(gizmos_for((True, True, False), (False, False, True))) == 1
    assert gizmos_for(nothing, nothing) == []


@pytest.fixture
def arm():
    """Return an arm that is turned about all axes."""
    return from_dh([(0.1, 0.4, 0.5, 0.3), (0.2, 0.4, -0.7, 0.3), (0, 0.4, 0.2, 0.3)])


@pytest.mark.parametrize(
    ('kind', 'how', 'asked'),
    [
        ('frame', {'dof': 'X EY'}, ((True, False, False), (False, True, False))),
        ('look_at', {}, ((True,) * 3, (False,) * 3)),
        ('distance', {}, ((True,) * 3, (False,) * 3)),
    ],
)
def test_gizmo_axes_follow_the_constrained_axes_of_goal(arm, kind, how, asked):
    """Of a line of sight, or a distance, only the place counts."""
    assert constrained_axes(arm.add_goal('link3', kind=kind, **how)) == asked


@pytest.mark.parametrize(('axes', 'local'), [('world', True), ('goal', False), ('link', False)])
def test_partial_goal_uses_the_axes_of_its_constraint(arm, axes, local):
    """Where some are left free, taste does not count."""
    goal = arm.add_goal('link3', dof='X Y', axes=axes)
    goal.set_quaternion(0.0, 0.6, 0.0, 0.8)
    wanted = {'world': np.eye(4), 'goal': goal.matrix_world, 'link': goal.child.matrix_world}
    found = handle_axes(goal, HandleStyle(local=local))
    np.testing.assert_allclose(found, wanted[axes][:3, :3], atol=1e-12)


def test_axes_of_a_whole_pose_are_chosen(arm):
    """The world's, or its own."""
    goal = arm.add_goal('link3')
    np.testing.assert_array_equal(handle_axes(goal, HandleStyle()), np.eye(3))
    own = handle_axes(goal, HandleStyle(local=True))
    np.testing.assert_allclose(own, goal.matrix_world[:3, :3])
    assert abs(own - np.eye(3)).max() > 0.1

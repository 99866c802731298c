"""Gizmos: where goals are, but for the one that is held."""

import asyncio
from types import SimpleNamespace

from ik_node.viewer.gallery_session import gallery_session
from ik_node.viewer.goal_gizmos import GoalGizmos
import numpy as np
import pytest


@pytest.fixture
def robot():
    """Return the hexapod with its goal."""
    return gallery_session('hexapod').robot


def moved(node, phase, position):
    """Tell of a drag as the server does."""
    node.position = position
    event = SimpleNamespace(phase=phase, target=node)
    for work in node.clicks:
        asyncio.run(work(event))


def test_gizmo_is_where_the_goal_is(scene, robot):
    """It comes, follows, hides and goes with its goal."""
    gizmos = GoalGizmos(scene, lambda *_: None)
    goal = robot.goals['platform']
    goal.set_position(0.01, 0.02, 0.1)
    gizmos.draw(robot, 0.05, visible=True)
    (node,) = scene.nodes.values()
    assert node.position == pytest.approx((0.01, 0.02, 0.1))
    assert (node.scale, node.visible, node.disable_rotations) == (0.05, True, False)
    goal.set_goal_dof('X', 'Y', 'Z')
    goal.enabled = False
    gizmos.draw(robot, 0.05, visible=True)
    assert (node.visible, node.disable_rotations) == (False, True)
    robot.remove_goal('platform')
    gizmos.draw(robot, 0.05, visible=True)
    assert scene.nodes == {}


def test_what_is_held_is_left_alone(scene, robot):
    """While somebody drags a gizmo the page does not pull at it; let go, it is put in place."""
    told = []
    gizmos = GoalGizmos(scene, lambda *what: told.append(what))
    gizmos.draw(robot, 0.05, visible=True)
    (node,) = scene.nodes.values()
    moved(node, 'start', (0.0, 0.0, 0.2))
    gizmos.draw(robot, 0.05, visible=True)
    assert node.position == (0.0, 0.0, 0.2)
    moved(node, 'end', (0.0, 0.0, 0.3))
    gizmos.draw(robot, 0.05, visible=True)
    np.testing.assert_allclose(node.position, robot.goals['platform'].matrix_world[:3, 3])
    assert [phase for *_, phase in told] == ['start', 'end']
    name, position, quat_xyzw, _ = told[1]
    assert name == 'platform'
    np.testing.assert_allclose(position, (0.0, 0.0, 0.3))
    np.testing.assert_allclose(quat_xyzw, (0.0, 0.0, 0.0, 1.0))

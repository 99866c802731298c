"""Links that stay in a plane."""

from ik_node.robot import from_dh
from ik_node.viewer.sessions.library_session import gallery_session
from ik_node.viewer.stage.goal_gizmos import plane_of
import numpy as np
import pytest


@pytest.mark.parametrize(
    ('name', 'goal', 'normal'),
    [
        ('fivebar', 'tool', 2),
        ('ccd_arm', 'tip', 2),
        ('gripper', 'grip', 1),
        ('hexapod', 'platform', None),
    ],
)
def test_plane_of_planar_robots_is_found(name, goal, normal):
    """Planar ones are known without being told, loops or not."""
    robot = gallery_session(name).robot
    plane = plane_of(robot, robot.goals[goal])
    if normal is None:
        assert plane is None
        return
    np.testing.assert_allclose(plane.T @ plane, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(plane[normal], 0.0, atol=1e-9)


def test_goal_on_line_or_moving_link_has_no_plane():
    """What slides along a line, or is counted in a link that moves, is dragged in space."""
    arm = from_dh([(0, 0.4, 0, 0.3), (0, 0.4, 0, 0.3)])
    assert plane_of(arm, arm.add_goal('link2', name='a')) is not None
    assert plane_of(arm, arm.add_goal('link2', name='b', base='link1')) is None
    assert plane_of(arm, arm.add_goal('link2', name='c', kind='look_at')) is None
    alone = gallery_session('scissor_lift').robot
    still = alone.add_goal(alone.description.root.name, name='still')
    assert plane_of(alone, still) is None

"""What the stage draws: joints with motors, and joints that only describe a free body."""

from ik_node.description.visuals import read_visuals
from ik_node.viewer.sessions.library_session import gallery_session
from ik_node.viewer.stage.stage import _motors, _virtual
import pytest


@pytest.mark.parametrize(
    ('name', 'motors', 'free'),
    [
        ('hexapod', 6, 'platform'),
        ('rocker_bogie', None, 'chassis'),
        ('arm6', 6, ''),
        ('walker', 12, 'body'),
    ],
)
def test_joints_of_free_bodies_are_not_drawn(name, motors, free):
    """Six joints of a body that is free to move; none of an arm."""
    robot = gallery_session(name).robot
    drawn = {seen.link for seen in read_visuals(robot.description.text, robot.description.source)}
    moved = _motors(robot)
    assert motors is None or len(moved) == motors
    names = (
        {f'{free}_{axis}' for axis in ('x', 'y', 'z', 'yaw', 'pitch', 'roll')} if free else set()
    )
    assert _virtual(robot, drawn, moved) == names
    assert _virtual(robot, set(), moved) == set()

"""In which frame a goal is meant."""

from types import SimpleNamespace as Data

from ik_node.model.link import Link
from ik_node.model.rotation import pose_matrix
from ik_node.ros.messages.names import frame_in_root, frame_name, own_name, prefix_of
import numpy as np
import pytest

TIP = pose_matrix((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0))
MAP = pose_matrix((5.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
ROBOT = Data(
    description=Data(root=Link('base')),
    links={'base': None, 'tip': None},
    forward=lambda q, link: TIP,
)


def lookup(target, source):
    """Know one frame beyond the robot."""
    assert target == 'base'
    if source == 'map':
        return MAP
    raise LookupError(f'no frame {source}')


def test_frame_of_a_goal_is_found():
    """Empty is the base frame, links belong to the robot, and others are looked up."""
    for frame_id, base_frame, expected in [
        ('', '', None),
        ('base', 'tip', None),
        ('/base', '', None),
        ('', 'tip', TIP),
        ('tip', '', TIP),
        ('map', '', MAP),
        ('', 'map', MAP),
    ]:
        frame = frame_in_root(frame_id, base_frame, ROBOT, np.zeros(1), lookup)
        assert frame is expected


def test_unknown_frame_raises_the_error_of_the_lookup():
    """The error contains the reason of the lookup."""
    with pytest.raises(LookupError, match='no frame mars'):
        frame_in_root('mars', '', ROBOT, np.zeros(1), lookup)


def test_prefix_comes_from_the_parameter_or_the_base_frame():
    """The last part of such a base frame is a link."""
    for frame_prefix, base_frame, expected in [
        ('', '', ''),
        ('left/', '', 'left/'),
        ('left/', 'right/base', 'left/'),
        ('left_', '', 'left_'),
        ('', 'left/base', 'left/'),
        ('', '/cell/left/tip', 'cell/left/'),
        ('', 'left/camera', ''),
        ('', 'tip', ''),
    ]:
        assert prefix_of(frame_prefix, base_frame, ROBOT.links) == expected


def test_prefix_is_added_to_and_removed_from_links():
    """Other frames keep their names."""
    for link, frame in (('tip', 'left/tip'), ('map', 'map'), ('left/map', 'left/map')):
        assert frame_name(link, 'left/', ROBOT.links) == frame
        assert own_name(frame, 'left/', ROBOT.links) == link
    assert own_name('right/tip', 'left/', ROBOT.links) == 'right/tip'


def test_lookup_uses_the_prefixed_root():
    """robot_state_publisher uses this name on /tf."""
    asked = []

    def remember(target, source):
        asked.append((target, source))
        return MAP

    assert frame_in_root('map', '', ROBOT, np.zeros(1), remember, 'left/') is MAP
    assert frame_in_root('left/tip', '', ROBOT, np.zeros(1), remember, 'left/') is TIP
    assert asked == [('left/base', 'map')]

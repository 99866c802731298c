"""In which frame a goal is meant."""

from types import SimpleNamespace as Data

from ik_node.model.link import Link
from ik_node.model.rotation import pose_matrix
from ik_node.ros.goals.goal_frames import frame_in_root
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


@pytest.mark.parametrize(
    ('frame_id', 'base_frame', 'expected'),
    [
        ('', '', None),
        ('base', 'tip', None),
        ('/base', '', None),
        ('', 'tip', TIP),
        ('tip', '', TIP),
        ('map', '', MAP),
        ('', 'map', MAP),
    ],
)
def test_frames(frame_id, base_frame, expected):
    """Empty is the base frame; links are the robot's own; the rest is looked up."""
    frame = frame_in_root(frame_id, base_frame, ROBOT, np.zeros(1), lookup)
    assert frame is expected


def test_unknown_frame():
    """What nobody knows is an error with the lookup's reason."""
    with pytest.raises(LookupError, match='no frame mars'):
        frame_in_root('mars', '', ROBOT, np.zeros(1), lookup)

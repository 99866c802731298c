"""Where a pointer drags something to, in space, in a plane, along a line."""

from ik_node.viewer.stage.goal_handle import pointer_translation
import numpy as np
import pytest

EYE = np.array((0.0, -2.0, 1.0))
HELD = np.array((0.1, 0.2, 0.3))
AXES = np.eye(3)
WAY = np.array((1.0, 2.0, 3.0))


def test_goal_dragged_in_space_goes_to_the_pointer():
    """Wherever that is."""
    np.testing.assert_allclose(pointer_translation(EYE, HELD, HELD + WAY, AXES), WAY)


@pytest.mark.parametrize('share', [0.3, 1.0, 2.0])
def test_goal_dragged_in_a_plane_is_under_the_pointer(share):
    """Any point of the ray does."""
    wanted = np.array((0.4, -0.3, 0.0))
    pointer = EYE + share * (HELD + wanted - EYE)
    found = pointer_translation(EYE, HELD, pointer, AXES[:, :2])
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_goal_dragged_on_a_line_is_nearest_to_the_ray():
    """The foot of the common normal of line and ray."""
    pointer = np.array((0.5, 0.4, 0.1))
    found = pointer_translation(EYE, HELD, pointer, AXES[:, :1])
    assert found[1] == found[2] == 0.0
    normal = np.cross(AXES[0], pointer - EYE)
    across = np.cross(normal, pointer - EYE)
    # The plane of the ray and the normal holds the foot.
    assert across @ (HELD + found - EYE) == pytest.approx(0.0, abs=1e-12)


def test_drag_without_intersection_gives_no_translation():
    """Above the horizon, or where a plane is seen on its edge."""
    assert pointer_translation(EYE, HELD, EYE + np.array((0.0, 1.0, 0.4)), AXES[:, :2]) is None
    level = HELD - 2.0 * AXES[1]
    assert pointer_translation(level, HELD, HELD + 0.1 * AXES[0], AXES[:, :2]) is None

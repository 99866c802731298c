"""The inverse of a map against solves from single positions of the base."""

import ik_node as ik
from ik_node.errors import OptionError, ShapeError
import numpy as np
import pytest
from scipy.ndimage import binary_dilation, binary_erosion
from support.panda_like import panda_like

EVERY = np.ones((3, 3, 3), dtype=bool)


def in_base(points, x, y, yaw):
    """Return points of the floor's frame (n, 3) in the frame of a base."""
    c, s = np.cos(yaw), np.sin(yaw)
    return (points - (x, y, 0.0)) @ np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))


def test_counts_agree_with_solves_from_a_few_bases(arm_map):
    """A base reaches as many targets as single solves find, but for cells at the border."""
    rng = np.random.default_rng(4)
    targets = rng.uniform((-1.0, -1.0, 0.0), (1.0, 1.0, 1.2), (60, 3))
    found = arm_map.base_placement(targets, step=0.1, yaws=8)
    robot = panda_like()
    robot.add_goal('link7', name='hand', dof='X Y Z')
    solver = ik.Solver(robot, ik.SolverOptions(restarts=50))
    # The number of reached targets if the border were a cell further in, or a cell further out.
    inner = binary_erosion(arm_map.reached, EVERY)
    outer = binary_dilation(arm_map.reached, EVERY)
    looked_at = 0
    for i, j, k in rng.integers(0, found.counts.shape, (12, 3)):
        points = in_base(targets, found.x[i], found.y[j], found.yaw[k])
        at, inside = arm_map.cells(points)
        least, most = (np.sum(inside & each[tuple(at.T)]) for each in (inner, outer))
        solved = solver.solve_batch({'hand': (points, np.tile((0, 0, 0, 1), (60, 1)))})
        assert least <= solved.converged.sum() <= most
        assert found.counts[i, j, k] == arm_map.contains(points).sum()
        looked_at += solved.converged.sum()
    assert looked_at > 30


def test_orientation_of_targets_turns_with_the_base(arm_directions):
    """A target counts if the nearest direction of the map is reached in its cell."""
    quats = np.array(((1.0, 0.0, 0.0, 0.0), (0.0, 0.7071, 0.0, 0.7071)))
    places = np.array(((0.4, 0.2, 0.3), (0.1, 0.5, 0.5)))
    found = arm_directions.base_placement((places, quats), step=0.2, yaws=6)
    rotation = pytest.importorskip('scipy.spatial.transform').Rotation
    for k, yaw in enumerate(found.yaw):
        back = rotation.from_rotvec((0.0, 0.0, -yaw))
        nearest, _ = arm_directions.nearest((back * rotation.from_quat(quats)).as_quat())
        for i, j in ((0, 0), (5, 6), (8, 4)):
            at, inside = arm_directions.cells(in_base(places, found.x[i], found.y[j], yaw))
            wanted = np.sum(inside & arm_directions.reached[(*at.T, nearest)])
            assert found.counts[i, j, k] == wanted
    assert found.counts.max() == 2


def test_target_with_another_orientation_than_the_map_is_not_reached(arm_directions):
    """With a small limit, only a target along one of the directions counts."""
    places = np.tile((0.4, 0.2, 0.3), (2, 1))
    near = arm_directions.quats_xyzw[3]
    turned = np.array((near, (0.0, 0.0, 0.0, 1.0)))
    found = arm_directions.base_placement((places, turned), yaws=1, within=0.01)
    assert found.counts.max() == 1


def test_best_positions_come_first(arm_map):
    """They reach all targets, and their neighbours too."""
    targets = ((0.5, 0.3, 0.4), (0.5, -0.3, 0.4))
    found = arm_map.base_placement(targets, step=0.1, yaws=4, extent=((-1, 2), (-1, 1)))
    best = found.best(10)
    assert best.shape == (10, 4)
    assert (best[:, 3] == 2).all()
    assert found.x[0] == pytest.approx(-1.0)
    assert found.y[-1] == pytest.approx(1.0)
    assert '2 of 2 targets' in repr(found)
    assert len(found.best(10**6)) == found.counts.size


def test_wrong_argument_is_refused(arm_map):
    """The error says what is allowed."""
    for targets, given, error, text in [
        (np.zeros((0, 3)), {}, ShapeError, 'targets'),
        (np.zeros((1, 2)), {}, ShapeError, 'targets'),
        (np.full((1, 3), np.nan), {}, ShapeError, 'finite'),
        (np.zeros((1, 3)), {'step': 0.0}, OptionError, 'step'),
        (np.zeros((1, 3)), {'step': 1e-6}, OptionError, 'at most 1e\\+08 poses'),
        (np.zeros((1, 3)), {'yaws': 0}, OptionError, 'yaws'),
        (np.zeros((1, 3)), {'extent': (0, 1)}, ShapeError, r'\(2, 2\)'),
        (np.zeros((1, 3)), {'extent': ((1, 0), (0, 1))}, OptionError, 'MIN not above MAX'),
    ]:
        with pytest.raises(error, match=text):
            arm_map.base_placement(targets, **given)

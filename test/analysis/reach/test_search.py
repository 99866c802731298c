"""Maps in space against sampled forward kinematics, and against solves of single cells."""

from math import cos, pi, sin

import ik_node as ik
from ik_node.errors import IkError, OptionError, ShapeError, UnknownFrameError
import numpy as np
import pytest
from scipy.ndimage import binary_dilation
from support.closed_form import lower_meeting
from support.panda_like import LIMITS, panda_like, poses, samples

EVERY = np.ones((3, 3, 3), dtype=bool)
# Largest rounding of a position by joint values in single precision, for about a metre [m].
ROUNDED = 1e-6


def check_border(found, points):
    """Check that each point is in a reached cell or beside one; return the number of others."""
    at, inside = found.cells(points)
    assert inside.all()
    wide = binary_dilation(found.share > 0.0, EVERY)
    assert wide[tuple(at.T)].all()
    return int(np.count_nonzero(~found.contains(points)))


def middles(found, cells):
    """Return the middles of cells (n, 3) [m]."""
    return found.origin + found.cell * cells


def test_sampled_positions_of_the_arm_are_in_reached_cells(arm_map):
    """Random joint values, many of them at limits, come to no other cell."""
    assert check_border(arm_map, poses(samples(300_000))[:, :3, 3]) <= 30


def test_every_reached_cell_has_joint_values_that_lead_there(arm_map):
    """By forward kinematics of the test's own, within limits."""
    cells = np.argwhere(arm_map.reached)
    assert len(cells) > 10_000
    q = np.array([arm_map.q_at(point) for point in middles(arm_map, cells)])
    off = np.abs(poses(q)[:, :3, 3] - middles(arm_map, cells)).max(axis=1)
    assert off.max() <= 0.5 * arm_map.cell + ROUNDED
    assert np.mean(off <= ROUNDED) > 0.8
    assert (q > LIMITS[:, 0] - ROUNDED).all()
    assert (q < LIMITS[:, 1] + ROUNDED).all()


def delta_positions(count):
    """Return positions of the delta's platform for random motors, within all limits."""
    rng, found = np.random.default_rng(2), []
    for angles in rng.uniform(-0.7, 1.1, (count, 3)):
        out = [np.array((cos(turn), sin(turn), 0.0)) for turn in (0.0, 2 * pi / 3, 4 * pi / 3)]
        pairs = list(zip(out, angles, strict=True))
        elbows = np.array([(0.06 + 0.15 * cos(a)) * o - (0, 0, 0.15 * sin(a)) for o, a in pairs])
        with np.errstate(invalid='ignore'):
            try:
                place = lower_meeting(elbows, 0.33)
            except ValueError:  # the spheres do not meet
                continue
        bent = []
        for (o, angle), elbow in zip(pairs, elbows, strict=True):
            rod = (place - elbow) / 0.33
            ahead, up = rod @ o, rod[2]
            aside = rod @ (-o[1], o[0], 0.0)
            # In the frame of the upper arm, which its motor has turned about y.
            x, z = cos(angle) * ahead - sin(angle) * up, sin(angle) * ahead + cos(angle) * up
            turned = np.arctan2(x, z) + 2.451817652804294
            bent.append(abs((turned + pi) % (2.0 * pi) - pi) / 1.2)
            bent.append(abs(np.arcsin(aside)) / 0.7)
        off = np.abs(place - (0.0, 0.0, -0.254558441227157)) / (0.12, 0.12, 0.1)
        if max(*bent, *off) <= 1.0:
            found.append(place)
    return np.array(found)


def test_positions_of_the_delta_in_closed_form_are_in_or_beside_reached_cells(repository):
    """Three spheres and the limits of motors, rods and slides decide where the platform is."""
    robot = ik.load_robot(repository / 'urdf' / 'delta.urdf')
    found = robot.reach('platform_link', cell=0.012)
    points = delta_positions(20_000)
    assert len(points) > 2000
    beside = check_border(found, points)
    assert beside < 0.2 * len(points)
    # No cell is reached that is further than a cell from all sampled positions.
    hit = np.zeros(found.shape, dtype=bool)
    hit[tuple(found.cells(points)[0].T)] = True
    assert not (found.reached & ~binary_dilation(hit, EVERY)).any()
    lower = robot.forward(found.q_at((0.0, 0.0, -0.26)), 'platform_link')[:3, 3]
    assert np.abs(lower - (0.0, 0.0, -0.26)).max() <= 0.5 * found.cell + ROUNDED


@pytest.mark.parametrize('kind', ['directions', 'quaternions'])
def test_orientations_agree_with_solves_of_single_cells(arm_directions, kind):
    """Many restarts for single cells find what the map has, up to its border."""
    found, dof = arm_directions, 'X Y Z EX EY'
    if kind == 'quaternions':
        turns = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 1.0))
        found, dof = panda_like().reach('link7', cell=0.1, orientations=turns), 'X Y Z EX EY EZ'
    rng, robot = np.random.default_rng(3), panda_like()
    cells = rng.integers(0, found.shape, (600, 3))
    k = rng.integers(0, len(found.quats_xyzw), 600)
    robot.add_goal('link7', name='hand', dof=dof, axes='goal')
    solver = ik.Solver(robot, ik.SolverOptions(restarts=100))
    batch = solver.solve_batch({'hand': (middles(found, cells), found.quats_xyzw[k])})
    there = found.reached[(*cells.T, k)]
    assert 100 < np.count_nonzero(there) < 500
    reached = batch.converged | (batch.goal_errors['hand'].position <= 2.0 * found.cell)
    assert not (there & ~reached).any()
    for cell, at in zip(cells[batch.converged & ~there], k[batch.converged & ~there], strict=True):
        assert binary_dilation(found.reached[..., at], EVERY)[tuple(cell)]


def test_threads_do_not_change_the_map(arm_map):
    """One thread finds the same cells and the same joint values."""
    robot = panda_like()
    one, two = (
        robot.reach('link7', cell=0.15, threads=threads, orientations=2) for threads in (1, 2)
    )
    assert (one.reached == two.reached).all()
    point = (0.4, 0.0, 0.4)
    np.testing.assert_array_equal(one.q_at(point), two.q_at(point))


def test_link_that_stays_in_a_plane_has_one_layer(repository):
    """The five-bar's tool moves in x and y only."""
    robot = ik.load_robot(repository / 'urdf' / 'fivebar.urdf')
    found = robot.reach('tool_link', cell=0.01)
    assert found.shape[2] == 1
    assert found.origin[2] == pytest.approx(robot.forward(robot.q, 'tool_link')[2, 3])
    assert 500 < np.count_nonzero(found.reached) < found.reached.size


def test_held_goal_limits_the_reach():
    """With the elbow kept in place, the flange is at most forearm and hand away from it."""
    robot = panda_like()
    elbow = robot.forward(robot.q, 'link4')[:3, 3]
    robot.add_goal('link4', name='elbow', dof='X Y Z')
    found = robot.reach('link7', cell=0.05, goals={'elbow': elbow})
    cells = np.argwhere(found.reached)
    assert len(cells) > 500
    for cell in cells[::25]:
        q = found.q_at(middles(found, cell))
        np.testing.assert_allclose(robot.forward(q, 'link4')[:3, 3], elbow, atol=1e-5)
        np.testing.assert_allclose(
            robot.forward(q, 'link7')[:3, 3], middles(found, cell), atol=0.025 + ROUNDED
        )


def test_extent_limits_the_cells():
    """The middles of the cells go from MIN to MAX."""
    found = panda_like().reach('link7', cell=0.1, extent=((0.2, 0.5), (-0.1, 0.1), (0.3, 0.3)))
    assert found.shape == (4, 3, 1)
    for side, ends in zip(found.centres, ((0.2, 0.5), (-0.1, 0.1), (0.3, 0.3)), strict=True):
        np.testing.assert_allclose(side[[0, -1]], ends, atol=1e-12)
    assert found.reached.all()


def test_progress_reaches_the_total_and_can_stop_the_search():
    """It is told how many poses are decided; its error ends the search and removes the goal."""
    robot, told = panda_like(), []
    before = robot.q
    found = robot.reach('link7', cell=0.2, progress=lambda *each: told.append(each))
    done = [each[0] for each in told]
    assert done == sorted(done)
    assert told[-1] == (found.reached.size, found.reached.size)
    np.testing.assert_array_equal(robot.q, before)

    def stop(done, total):
        raise IkError('enough')

    with pytest.raises(IkError, match='enough'):
        robot.reach('link7', cell=0.2, progress=stop)
    assert not robot.goals


def test_wrong_argument_is_refused():
    """The error says what is allowed."""
    for given, error, text in [
        ({'link': 'hand'}, UnknownFrameError, 'hand'),
        ({'link': 'link0'}, OptionError, 'a link that moves'),
        ({'link': 'link3'}, OptionError, 'moves on a curve'),
        ({'cell': 0.0}, OptionError, 'a length above 0'),
        ({'cell': 0.001}, OptionError, r'about 0\.0\d+ m or more.*GB'),
        ({'extent': ((0, 1), (0, 1))}, ShapeError, r'\(3, 2\)'),
        ({'extent': ((1, 0), (0, 1), (0, 1))}, OptionError, 'MIN not above MAX'),
        ({'orientations': 0}, OptionError, '1 or more'),
        ({'orientations': ((0, 0, 1),)}, ShapeError, r'\(K, 4\)'),
        ({'orientations': ((0, 0, 0, 0),)}, ShapeError, 'row 0'),
        ({'goals': {'link4': ((9, 9, 9), (0, 0, 0, 1))}}, OptionError, 'goals that can be met'),
        ({'goals': {'knee': (0, 0, 0)}}, UnknownFrameError, 'knee'),
    ]:
        robot = panda_like()
        with pytest.raises(error, match=text):
            robot.reach(**{'link': 'link7', 'cell': 0.2, **given})
        assert not robot.goals


@pytest.mark.parametrize('axes', ['zy', 'zx', 'yx'])
def test_thin_shell_is_on_the_map(axes):
    """A link on two axes and a slider of 4 mm reaches a shell much thinner than a cell."""
    joints, parent = '', 'base'
    for at, axis in enumerate(axes):
        xyz = ' '.join(str(float(axis == letter)) for letter in 'xyz')
        joints += (
            f'<link name="l{at}"/><joint name="j{at}" type="continuous"><parent link="{parent}"/>'
            f'<child link="l{at}"/><origin xyz="{0.11 * at} 0 0"/><axis xyz="{xyz}"/></joint>'
        )
        parent = f'l{at}'
    robot = ik.load_robot(
        f'<robot name="thin"><link name="base"/>{joints}<link name="tip"/><joint name="slide" '
        f'type="prismatic"><parent link="{parent}"/><child link="tip"/>'
        '<origin xyz="0.31 0.02 0.07"/><axis xyz="1 0 0"/><limit lower="-0.002" upper="0.002" '
        'effort="1" velocity="1"/></joint></robot>'
    )
    found = robot.reach('tip', cell=0.05)
    rng = np.random.default_rng(4)
    drawn = rng.uniform((-pi, -pi, -0.002), (pi, pi, 0.002), (200, 3))
    points = [robot.forward(q, 'tip')[:3, 3] for q in drawn]
    assert np.count_nonzero(~found.contains(np.array(points))) <= 2
    assert found.reached.mean() < 0.4
    for point in points[:20]:
        q = found.q_at(point)
        if q is not None:
            middle = middles(found, found.cells(point)[0])
            assert np.abs(robot.forward(q, 'tip')[:3, 3] - middle).max() <= 0.025 + ROUNDED

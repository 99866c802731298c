"""`reach`: the points of a slice against closed formulas, and the table."""

import re

from ik_node.robot import load_robot
import numpy as np
import pytest
from support.planar_legs import arm as turning_arm
from support.planar_reach import ARM, in_annulus, in_fivebar, in_limits, LIMIT


def judge(rows, inside, cell):
    """Compare every point with a formula, but those with the border within half a cell."""
    x, y = (np.array([float(row[axis]) for row in rows]) for axis in 'xy')
    reached = np.array([row['status'] == 'CONVERGED' for row in rows])
    wanted = inside(x, y)
    near = np.zeros(len(x), dtype=bool)
    for angle in np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False):
        for way in (0.25 * cell, 0.5 * cell):
            near |= inside(x + way * np.cos(angle), y + way * np.sin(angle)) != wanted
    np.testing.assert_array_equal(reached[~near], wanted[~near])
    return int(reached.sum()), int(near.sum())


def test_reach_of_two_bars_is_an_annulus(arm, run):
    """A free arm of two bars comes to all between two circles, and nowhere else."""
    code, out, err, rows = run(
        arm, '--link', 'tip', '--extent', -0.9, 0.9, -0.9, 0.9, '--grid', 61
    )
    assert (code, err) == (0, '')
    assert len(rows) == 61 * 61
    reached, near = judge(rows, in_annulus, 0.03)
    assert 1500 < reached < 2800
    assert near < 0.2 * len(rows)
    assert out.startswith(f'{reached} of 3721 points reached, ')
    area = float(re.search(r'([0-9.]+) m\^2', out)[1])
    assert area == pytest.approx(np.pi * (0.8**2 - 0.2**2), rel=1e-3)
    assert {row['z'] for row in rows} == {'0.1'}


def test_limits_are_kept_in_both_postures(tmp_path, run):
    path = tmp_path / 'limited.urdf'
    limits = {'shoulder': LIMIT.format(-1.1, 1.1), 'elbow': LIMIT.format(-2.0, 2.6)}
    path.write_text(ARM.format(kind='revolute', **limits))
    extent = ('--extent', -0.5, 0.9, -0.9, 0.9)
    code, _, _, rows = run(path, '--link', 'tip', *extent, '--grid', 73)
    assert code == 0
    assert len(rows) == 73 * 57
    reached, near = judge(rows, in_limits, 0.025)
    assert 1000 < reached < 3000
    assert near < 0.25 * len(rows)


def test_closed_loops_limit_the_reach(fivebar, run):
    """A five-bar comes to where both of its arms do, limits and all; the frame finds itself."""
    code, _, _, rows = run(fivebar, '--link', 'tool_link', '--grid', 80)
    assert code == 0
    x, y = (np.unique([float(row[axis]) for row in rows]) for axis in 'xy')
    reached, _ = judge(rows, in_fivebar, x[1] - x[0])
    assert reached > 1000
    fine = np.meshgrid(np.linspace(-0.5, 0.5, 2001), np.linspace(-0.5, 0.5, 2001))
    inside = in_fivebar(*fine)
    for values, grid in zip((x, y), fine, strict=True):
        least, most = grid[inside].min(), grid[inside].max()
        room = 0.06 * (fine[0][inside].max() - fine[0][inside].min())
        assert values[0] == pytest.approx(least - room, abs=1.5e-3)
        assert values[-1] == pytest.approx(most + room, abs=1.5e-3)


def test_table_has_a_row_per_point(fivebar, run):
    """Joint values that lead there, loops closed, within limits; nearest ones where none do."""
    _, _, _, rows = run(fivebar, '--link', 'tool_link', '--grid', 25, '--joints')
    robot = load_robot(fivebar)
    assert list(rows[0])[:8] == [
        *('x', 'y', 'z', 'status', 'position_error', 'orientation_error', 'starts'),
        'conditioning',
    ]
    assert list(rows[0])[8:] == robot.joint_names
    for row in rows:
        q = np.array([float(row[name]) for name in robot.joint_names])
        assert (q >= robot.lower).all()
        assert (q <= robot.upper).all()
        ends = [robot.forward(q, link) for link in ('left_fore_link', 'right_fore_link')]
        pins = [pose @ (0.24, 0.0, up, 1.0) for pose, up in zip(ends, (0.012, 0.0), strict=True)]
        np.testing.assert_allclose(*pins, atol=1e-5)
        tool = robot.forward(q, 'tool_link')[:3, 3]
        off = np.linalg.norm(tool - [float(row[axis]) for axis in 'xyz'])
        assert float(row['position_error']) == pytest.approx(off, abs=1e-6)
        assert (off < 2e-6) == (row['status'] == 'CONVERGED')
        assert int(row['starts']) >= 1


def test_threads_do_not_matter(repository, run):
    words = (repository / 'urdf' / 'delta.urdf', '--link', 'platform_link', '--grid', 20)
    run(*words, '--threads', 1)
    one = run.out.read_text()
    run(*words, '--threads', 2)
    assert run.out.read_text() == one
    assert one.splitlines()[1].split(',')[1] == '0.0', 'upright, through where the platform is'


def test_free_third_axis_makes_a_projection(repository, run):
    """Without the third axis all is projected: further than in any one slice."""
    robot = repository / 'docs' / 'robots' / 'arm6.urdf'
    words = ('--link', 'hand', '--plane', 'xy', '--grid', 20)
    _, sliced, _, _ = run(robot, *words, '--at', 0.9)
    _, projected, _, rows = run(robot, *words, '--dof', 'X Y')
    assert 'plane z = 0.9 m' in sliced
    assert 'projection along z' in projected
    areas = [float(re.search(r'([0-9.]+) m\^2', text)[1]) for text in (sliced, projected)]
    assert areas[1] > 1.2 * areas[0]
    assert {row['z'] for row in rows} == {''}


def test_singular_rows_have_the_curves_and_the_axis_of_the_shoulder(tmp_path, run):
    """In a plane across that axis: a circle where the arm is stretched, and the point within."""
    path = tmp_path / 'shoulder.urdf'
    path.write_text(turning_arm(0.5, 0.3, axes=('0 0 1', '0 1 0', '0 1 0')).to_urdf())
    words = ('--link', 'tip', '--plane', 'xy', '--at', 0.4, '--grid', 12, '--singularities')
    _, _, _, rows = run(path, *words, '--plot', tmp_path / 'map.png')
    singular = [row for row in rows if row['status'] == 'TYPE_I']
    radii = np.array([np.hypot(float(row['x']), float(row['y'])) for row in singular])
    assert np.sum(radii < 1e-6) == 1
    np.testing.assert_allclose(radii[radii > 1e-6], np.sqrt(0.8**2 - 0.4**2), atol=1e-6)
    assert len(radii) > 50

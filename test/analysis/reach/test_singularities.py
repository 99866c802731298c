"""Singular curves, against circles and determinants that are written by hand."""

import ik_node as ik
from ik_node.analysis.reach.singularities import SingularTracer
from ik_node.analysis.reach.volume import curves_in_layer
from ik_node.solver.states import closed_samples
import numpy as np
import pytest
from support.planar_legs import (
    arm,
    five_bar,
    five_bar_determinants,
    three_rrr,
    three_rrr_determinants,
)

EVERYWHERE = np.array([(-9.0, 9.0)] * 3)
STEP = 0.02


def traced(robot, link, dof, kind, plane='xy', at=None, **options):
    """Return the curves of a kind in a plane."""
    tracer = SingularTracer(robot, link, dof, closed_samples(ik.Solver(robot), 80), **options)
    return [each for each in tracer.trace(plane, at, EVERYWHERE, STEP) if each.kind == kind]


def gap_to(points, places):
    """Return the largest distance of places from the nearest of some points."""
    return np.linalg.norm(places[:, None] - points[None], axis=-1).min(axis=1).max()


@pytest.mark.parametrize('lengths', [(0.5, 0.3), (0.5, 0.3, 0.1), (0.5, 0.006)])
def test_planar_arm_is_singular_where_it_is_stretched_or_folded(lengths):
    """On all circles whose radius is a sum of the lengths with signs, and nowhere else."""
    points = np.concatenate([c.points for c in traced(arm(*lengths), 'tip', 'X Y', 'inverse')])
    signs = np.stack(np.meshgrid(*[(1, -1)] * len(lengths)), axis=-1).reshape(-1, len(lengths))
    radii = np.unique(np.abs(signs @ lengths).round(9))
    off = np.abs(np.linalg.norm(points[:, :2], axis=1)[:, None] - radii)
    assert off.min(axis=1).max() < 1e-7
    assert {*off.argmin(axis=1).tolist()} == {*range(len(radii))}
    around = np.linspace(0, 2 * np.pi, 100)
    circles = [(r * np.cos(around), r * np.sin(around), 0 * around) for r in radii]
    assert gap_to(points, np.hstack(circles).T) < STEP


def test_arm_in_space_is_singular_on_spheres():
    """A slice beside the axis of the base cuts both."""
    robot = arm(0.5, 0.3, axes=('0 0 1', '0 1 0', '0 1 0'))
    curves = traced(robot, 'tip', 'X Y Z', 'inverse', 'xz', 0.1)
    points = np.concatenate([curve.points for curve in curves])
    np.testing.assert_allclose(points[:, 1], 0.1, atol=1e-7)
    radii = np.linalg.norm(points, axis=1)
    assert np.minimum(np.abs(radii - 0.8), np.abs(radii - 0.2)).max() < 1e-7
    assert {*np.round(radii, 6).tolist()} == {0.2, 0.8}


def test_five_bar_is_singular_where_legs_are_straight_or_rods_align():
    """Type I: a leg is straight. Type II: wherever the sine between the rods changes its sign."""
    robot = five_bar()
    for curve in traced(robot, 'tip', 'X Y', 'inverse'):
        assert np.abs(five_bar_determinants(curve.q)[:, 1:]).min(axis=1).max() < 1e-7
    curves = traced(robot, 'tip', 'X Y', 'direct')
    points = np.concatenate([curve.points[:, :2] for curve in curves])
    assert np.abs(five_bar_determinants(np.concatenate([c.q for c in curves]))[:, 0]).max() < 1e-7
    # For each side of both elbows: the sine at the points of a grid that the legs reach.
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 101), np.linspace(-0.7, 0.7, 141), indexing='ij')
    crossings = []
    for sides in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        rods = []
        for base, side in zip((-0.2, 0.2), sides, strict=True):
            far = np.hypot(x - base, y)
            with np.errstate(invalid='ignore', divide='ignore'):
                inner = np.arccos((far**2 + 0.4**2 - 0.3**2) / (2 * far * 0.4))
            rods.append(np.arctan2(y, x - base) + side * inner)
        sine = np.sin(rods[1] - rods[0])
        for one, other in (np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1]):
            change = np.abs(sine[one] - sine[other]) < 0.5
            change &= sine[one] * sine[other] < 0.0
            crossings.append(np.stack([x[one][change], y[one][change]], axis=1))
    crossings = np.concatenate(crossings)
    assert len(crossings) > 500
    assert gap_to(points, crossings) < 0.01 + STEP


@pytest.mark.parametrize('kind', ['inverse', 'direct'])
def test_three_rrr_is_singular_where_its_determinants_vanish(kind):
    """In every configuration of a curve, with closed loops and one orientation of the plate."""
    robot, turn = three_rrr(), np.array((0.0, 0.0, np.sin(0.1), np.cos(0.1)))
    curves = traced(robot, 'plate', 'X Y EZ', kind, quat_xyzw=turn)
    q = np.concatenate([curve.q for curve in curves])
    values = np.abs(three_rrr_determinants(q)).reshape(len(q), -1)
    assert (values[:, :1] if kind == 'direct' else values[:, 1:]).min(axis=1).max() < 1e-7
    poses = robot.forward(q, 'plate')
    np.testing.assert_allclose(poses[:, :3, 3], np.concatenate([c.points for c in curves]))
    np.testing.assert_allclose(np.arctan2(poses[:, 1, 0], poses[:, 0, 0]), 0.2, atol=1e-7)
    errors = ik.Solver(robot).solve_pose({}, q[len(q) // 2]).closure_errors.values()
    assert max(error.position for error in errors) < 1e-6
    assert len(curves) >= 3


def test_axis_of_the_shoulder_is_a_singular_line():
    """In space it is the whole axis that the arm reaches; a slice across it has one point."""
    robot = arm(0.5, 0.3, axes=('0 0 1', '0 1 0', '0 1 0'))
    tracer = SingularTracer(robot, 'tip', 'X Y Z', closed_samples(ik.Solver(robot), 80))
    lines = tracer.trace_layers({}, EVERYWHERE, STEP)
    assert {line.kind for line in lines} == {'inverse'}
    points = np.concatenate([line.points for line in lines])
    np.testing.assert_allclose(points[:, :2], 0.0, atol=1e-7)
    # The arm reaches from its folded to its stretched length on both sides.
    heights = np.sort(np.concatenate([-np.linspace(0.21, 0.79, 50), np.linspace(0.21, 0.79, 50)]))
    assert gap_to(points, np.c_[0 * heights, 0 * heights, heights]) < STEP
    assert np.abs(points[:, 2]).min() > 0.2 - 1e-6
    assert np.abs(points[:, 2]).max() < 0.8 + 1e-6
    for height, count in ((0.5, 1), (-0.31, 1), (0.1, 0)):
        places = [each.points for each in curves_in_layer(lines, 'z', height)]
        assert len(np.unique(np.round(places, 6), axis=0)) == count
        np.testing.assert_allclose(places, [[(0, 0, height)]] * len(places), atol=1e-6)
    assert curves_in_layer(lines, 'y', 0.0) == lines


def test_volume_has_the_curves_of_all_its_slices_and_its_file_too(tmp_path):
    """Each slice of a sphere is a circle in its plane; limits cut the curves."""
    robot = arm(0.5, 0.3, axes=('0 0 1', '0 1 0', '0 1 0'))
    volume = robot.reach('tip', cell=0.4, restarts=1, singularities=True)
    volume.save(tmp_path / 'map.npz')
    for found in (volume, ik.ReachVolume.load(tmp_path / 'map.npz')):
        lines = [each for each in found.singularities if each.plane == 'xyz']
        assert np.abs(np.concatenate([line.points for line in lines])[:, :2]).max() < 1e-6
        assert len(found.curves('x', 0.0)) > len(lines)
        for axis in 'xyz':
            curves = [each for each in found.curves(axis, 0.37) if each.plane != 'xyz']
            points = np.concatenate([curve.points for curve in curves])
            np.testing.assert_allclose(points[:, 'xyz'.index(axis)], 0.4, atol=1e-7)
            np.testing.assert_allclose(np.linalg.norm(points, axis=1), 0.8, atol=1e-7)
            assert {curve.kind for curve in curves} == {'inverse'}
            assert len(curves[0].q[0]) == 3
            between = [each for each in found.curves(axis, 0.2) if each.plane != 'xyz']
            assert {*between[0].points[:, 'xyz'.index(axis)].round(6)} in ({0.0}, {0.4})
    for joint in robot.joint_order[2:]:
        joint.set_limits(joint.dof[0], 0.5, 2.5)
    curves = robot.reach('tip', cell=0.4, restarts=1, singularities=True).curves('z', 0.4)
    assert {curve.plane for curve in curves} <= {'xyz'}
    with pytest.raises(ik.errors.OptionError, match='singularities'):
        robot.reach('tip', cell=0.4, orientations=2, singularities=True)

"""Mechanisms with rounded geometry behave like the exact ones."""

import re

import ik_node as ik
from ik_node.description.files import description_path
import pytest
from rounding import MOST_ERROR, MOST_GAP, rows
from tasks.cut_loops import LINKAGES, urdf_of
from tasks.rounded import tilted_urdf


@pytest.mark.parametrize('name', ['gripper', 'delta'])
def test_rounded_mechanisms_behave_as_exact_ones(name):
    urdf = tilted_urdf(ik.load_robot(description_path(f'{name}.urdf')).to_urdf())
    for row in rows(name, urdf):
        assert row.mobility[0] == row.mobility[1], row
        assert max(row.driven, row.missed) <= MOST_ERROR, row
        assert row.gap <= MOST_GAP, row


def test_rounded_loops_behave_as_exact_ones_however_they_are_cut():
    for name, cut in [
        *(('watt', 'weld'), ('parallelograms', 'hinge'), ('finger', 'point')),
        *(('spherical', 'hinge'), ('triangle_platform', 'distance'), ('slider_crank', 'point')),
    ]:
        for row in rows(name, urdf_of(LINKAGES[name](), cut), (3, 6)):
            assert row.is_fine, row


@pytest.mark.parametrize('name', ['strandbeest', 'walker'])
def test_turned_frames_with_all_digits_are_not_rounded(name):
    exact = ik.load_robot(description_path(f'{name}.urdf'))
    turned = ik.load_robot(tilted_urdf(exact.to_urdf()))
    assert turned.redundancies == ()
    assert int(turned.mobility) == int(exact.mobility)
    assert turned.q == pytest.approx(exact.q, abs=1e-9)


def test_digits_of_a_sidecar_count():
    whole = ik.load_robot(urdf_of(LINKAGES['four_bar'](), 'point'))
    closures = re.sub(r'-?\d+\.\d+', lambda found: f'{float(found[0]):.4f}', whole.to_closures())
    robot = ik.load_robot(whole.to_urdf(loops=False), closures=closures)
    assert int(robot.mobility) == 1
    assert ik.Solver(robot).drive({'to_link1': 0.3}).status is ik.Status.CONVERGED

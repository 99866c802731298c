"""What each of our linkages is known for."""

from math import asin, cos, hypot, sin, sqrt
from xml.etree import ElementTree

from ik_node import Solver, SolverOptions
from ik_node.description.files import description_path
from ik_node.gallery.rocker_bogie import BALL, BUMPS, ground
import numpy as np
import pytest
from support.gallery_motion import followed, loaded

STRAIGHT = (0.0, 0.0, 0.0, 1.0)
# Theo Jansen's thirteen lengths, and between which two points each of them is.
JANSEN = {
    'a': 38.0, 'b': 41.5, 'c': 39.3, 'd': 40.1, 'e': 55.8, 'f': 39.4, 'g': 36.7,
    'h': 65.7, 'i': 49.0, 'j': 50.0, 'k': 61.9, 'l': 7.8, 'm': 15.0,
}  # fmt: skip
RODS = {
    'b': 'pin top', 'c': 'pin knee', 'd': 'pin edge', 'e': 'top edge', 'f': 'edge heel',
    'g': 'heel knee', 'h': 'heel foot', 'i': 'knee foot', 'j': 'crank top', 'k': 'crank knee',
    'm': 'axle crank',
}  # fmt: skip


def where(robot, q, link, point=(0.0, 0.0, 0.0)):
    return (robot.forward(q, link) @ [*point, 1.0])[:3]


@pytest.mark.parametrize('motors', [(0.5, 0.2, -0.3, 1.0), (-2.0, -0.6, 0.5, 0.0)])
def test_palletizer_keeps_its_tool_level(motors):
    """Wherever the motors stand, the tool points down, and turns as tower and wrist together."""
    robot = loaded('palletizer')
    names = ('turn', 'shoulder', 'drive', 'wrist')
    solution = Solver(robot).drive(dict(zip(names, map(float, motors), strict=True)))
    assert solution.status.name == 'CONVERGED'
    tool = robot.forward(solution.q, 'tool_link')[:3, :3]
    turn = motors[0] + motors[3]
    level = [[cos(turn), -sin(turn), 0.0], [sin(turn), cos(turn), 0.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(tool, level, atol=1e-6)
    # The forearm turns as the crank does, not as the upper arm.
    q = dict(zip(robot.joint_names, solution.q, strict=True))
    assert q['shoulder'] + q['elbow'] == pytest.approx(q['drive'], abs=1e-6)


@pytest.mark.parametrize('slide', [-0.12, 0.06])
def test_scissor_lift_agrees_with_its_formula(slide):
    """Four stages of bars of 0.5 m: 4 sqrt(0.25 - foot^2) high, and the platform stays level."""
    robot = loaded('scissor_lift')
    solution = Solver(robot).drive({'slide': slide})
    assert solution.status.name == 'CONVERGED'
    expected = np.eye(4)
    expected[2, 3] = 4.0 * sqrt(0.25 - (0.4 + slide) ** 2)
    np.testing.assert_allclose(robot.forward(solution.q, 'platform_link'), expected, atol=1e-6)


@pytest.mark.parametrize('leg', ['left_front', 'right_rear'])
def test_strandbeest_legs_have_published_lengths(leg):
    """Every leg has the published lengths all the way round, whichever way they are measured."""
    robot = loaded('strandbeest')
    pair = leg.split('_')[0]
    crank_pin = (0.0, 0.0, 0.15 if pair == 'left' else -0.15)
    top, heel = (robot.closures[f'{leg}_{end}'].position for end in ('top', 'heel'))
    for _, solution in followed(robot, 'strandbeest', np.arange(0.0, 7.0, 0.25)):
        q = solution.q
        places = {
            'axle': where(robot, q, 'crank_link'),
            'crank': where(robot, q, 'crank_link', crank_pin),
            'pin': where(robot, q, f'{leg}_upper_link'),
            'top': where(robot, q, f'{leg}_upper_link', top),
            'edge': where(robot, q, f'{leg}_f_link'),
            'knee': where(robot, q, f'{leg}_lower_link'),
            'heel': where(robot, q, f'{leg}_lower_link', heel),
            'foot': where(robot, q, f'{leg}_foot_link'),
        }
        flat = {name: 100.0 * place[[0, 2]] for name, place in places.items()}
        for rod, ends in RODS.items():
            start, end = (flat[end] for end in ends.split())
            assert hypot(*(end - start)) == pytest.approx(JANSEN[rod], abs=1e-4), rod
        across = np.abs(flat['pin'] - flat['axle'])
        assert across.tolist() == pytest.approx([JANSEN['a'], JANSEN['l']], abs=1e-9)


def test_peaucellier_pen_draws_straight_line():
    robot = loaded('peaucellier')
    robot.add_goal('pen_link', name='pen', dof='Y')
    sharp = SolverOptions(translation_converge_threshold=1e-12, rotation_converge_threshold=1e-12)
    solver, q, off = Solver(robot, sharp), robot.q, []
    for y in np.concatenate((np.linspace(0.0, 0.2, 40), np.linspace(0.2, -0.2, 80))):
        solution = solver.solve_pose({'pen': ((0.0, y, 0.0), STRAIGHT)}, q0=q)
        assert solution.status.name == 'CONVERGED'
        q = solution.q
        pen = where(robot, q, 'pen_link')
        assert pen[1] == pytest.approx(y, abs=1e-9)
        off.append(abs(pen[0] - 0.51))
    assert max(off) < 1e-9
    # Its inversion: the crank's end and the pen are in line with the fixed pin, and
    # the product of their distances is that of sum and difference of the bars.
    near = where(robot, q, 'crank_link', (0.095, 0.0, 0.0))
    assert hypot(*near[:2]) * hypot(*pen[:2]) == pytest.approx(0.37**2 - 0.2**2, abs=1e-9)


def test_ground_of_rover_equals_drawn_ground():
    robot = ElementTree.parse(description_path('rocker_bogie.urdf')).getroot()
    drawn = []
    for visual in robot.find("link[@name='ground_link']").findall('visual'):
        ball = visual.find('geometry/sphere')
        if ball is not None:
            assert float(ball.get('radius')) == BALL
            drawn.append([float(word) for word in visual.find('origin').get('xyz').split()])
    np.testing.assert_allclose(drawn, [(x, y, top - BALL) for x, y, top in BUMPS], atol=1e-12)
    assert [ground(x, y) for x, y, _ in BUMPS] == pytest.approx([top for *_, top in BUMPS])
    assert ground(0.0, 0.0) == 0.0


def test_rovers_differential_keeps_the_mean():
    """The bar's ends turn one rocker up and the other one down, by arms of 0.7 m and 0.2405 m."""
    robot = loaded('rocker_bogie')
    solution = Solver(robot).drive({'bar': 0.1})
    assert solution.status.name == 'CONVERGED'
    q = dict(zip(robot.joint_names, solution.q, strict=True))
    expected = asin(0.7 * sin(0.1) / 0.2405)
    assert -q['left_rocker'] == pytest.approx(expected, rel=0.05)
    assert q['right_rocker'] == pytest.approx(expected, rel=0.05)

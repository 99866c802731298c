"""Random unreachable goals of mechanisms with loops, compared with SLSQP."""

from ik_node.model.dof import DOF
from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.closed_mechanisms import fourbar_arms
from support.gallery_mechanisms import gallery_fivebar, gallery_hexapod
from support.mechanisms import MECHANISMS
from support.other_optimiser import OtherOptimiser

COUNT = 5 if is_compiled() else 2


def fivebar_by_weights():
    """Return a five-bar with two goals of different weights, on both sides of the loop."""
    m = MECHANISMS['fivebar']()
    m.goal('elbow', 'r2_link', 'X Y').weight = 0.4
    m.goals['tool'].weight = 3.0
    return m


def box_by_weights():
    """Return two arms on a box, with goals for the box, a hand and an elbow."""
    m = MECHANISMS['two_arm_box']()
    m.goal('hand', 'r_hand', 'X Y Z', axes='link').weight = 0.5
    m.goal('elbow', 'l3_link', 'Y Z').weight = 2.0
    return m


# How far away goals are, and how the start is spread, in [m or rad].
CASES = {
    'gallery_hexapod': (gallery_hexapod, 0.1, 0.005),
    'gallery_fivebar': (gallery_fivebar, 0.5, 0.2),
    'fivebar': (MECHANISMS['fivebar'], 1.5, 0.3),
    'fivebar_by_weights': (fivebar_by_weights, 1.5, 0.3),
    'hexapod': (MECHANISMS['hexapod'], 1.5, 0.1),
    'two_arm_box': (MECHANISMS['two_arm_box'], 2.0, 0.3),
    'box_by_weights': (box_by_weights, 2.0, 0.3),
}

KINDS = {
    'near the start': ('all', SolverOptions(restarts=0)),
    'anywhere': ('all', SolverOptions()),
    'some axes': ('some', SolverOptions(restarts=0, max_iterations=1000)),
}


def ask_far_away(mechanism, rng, size):
    """Move every goal to a mostly unreachable pose; return the poses."""
    asked, there = {}, mechanism.naive()
    for name, goal in mechanism.goals.items():
        here = there.ends(goal)[0]
        way = rng.normal(size=3)
        position = here[:3, 3] + size * rng.uniform(0.5, 1.5) * way / np.linalg.norm(way)
        turn = Rotation.from_rotvec(rng.uniform(-0.8, 0.8, 3))
        asked[name] = (position, (turn * Rotation.from_matrix(here[:3, :3])).as_quat())
        goal.set_position(*position)
        goal.set_quaternion(*asked[name][1])
    return asked


def ask_for_some_axes(mechanism, rng):
    """Let every goal constrain some axes only, in the root's, its own or the link's frame."""
    for goal in mechanism.goals.values():
        some = [dof for dof in DOF if rng.random() < 0.6]
        goal.set_goal_dof(*(some or ['X']))
        goal.axes = rng.choice(['world', 'goal', 'link'])


def starts_and_goals(name, axes, count, options):
    """Yield a mechanism, its solver, a closed start and distant goals."""
    make, size, spread = CASES[name]
    m, rng = make(), np.random.default_rng(4)
    solver = m.solver(options)
    home = solver.solve_pose({}).q
    for _ in range(count):
        if axes == 'some':
            ask_for_some_axes(m, rng)
            solver.update_structure()
        asked = ask_far_away(m, rng, size)
        start = home + rng.uniform(-spread, spread, home.size)
        yield m, solver, solver.solve_pose({}, start).q, asked


def test_slsqp_gains_at_most_one_percent():
    """With loops closed and limits kept."""
    for name, kind in [
        *(('gallery_hexapod', 'anywhere'), ('gallery_fivebar', 'near the start')),
        *(('fivebar', 'anywhere'), ('fivebar', 'some axes'), ('fivebar_by_weights', 'anywhere')),
        *(('hexapod', 'near the start'), ('hexapod', 'some axes'), ('two_arm_box', 'anywhere')),
        *(('box_by_weights', 'near the start'), ('box_by_weights', 'some axes')),
    ]:
        axes, options = KINDS[kind]
        missed, count = 0, COUNT if axes == 'all' else COUNT // 2
        for m, solver, start, asked in starts_and_goals(name, axes, count, options):
            solution = solver.solve_pose(asked, start)
            there = m.naive(solver.joint_names, solution.q)
            assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6
            assert there.limit_excess() <= 0.0
            if solution.status is Status.CONVERGED:
                continue
            other = OtherOptimiser(m, solution.chains[0].characteristic_length)
            before = other.cost(solution.q)
            q, gap = other.improved(solution.q)
            assert gap > 1e-6 or other.cost(q) >= 0.99 * before, solution.message
            missed += gap <= 1e-6
        assert missed >= count // 2


@pytest.mark.skipif(not is_compiled(), reason='thousands of solves')
@pytest.mark.parametrize('closure', ['hinge', 'point'])
def test_four_bar_finds_nearest_of_many_minima(closure):
    """A pose that the lengths prove out of reach has several minima along the crank's turn."""
    m = fourbar_arms('fourbar')
    m.joints['crank'].set_limits('EZ', -np.inf, np.inf)
    m.tip('coupler_end', 'coupler_link', (1.1, 0, 0))
    m.closure('pin', 'rocker_link', 'coupler_end', closure, xyz=(0.9, 0, 0))
    m.tip('pen', 'coupler_link', (0.55, 0.3, 0))
    m.goal('pen_goal', 'pen')
    rng = np.random.default_rng(3)
    usual, thorough = m.solver(), m.solver(SolverOptions(agreeing_starts=100))
    missed, count = 0, 50
    for _ in range(count):
        turn = Rotation.from_euler('z', rng.uniform(-np.pi, np.pi)).as_quat()
        pose = {'pen_goal': ((*rng.normal(0.5, 0.5, 2), 0.0), turn)}
        found, best = (solver.solve_pose(pose) for solver in (usual, thorough))
        length = found.chains[0].characteristic_length
        costs = [
            np.hypot(error.position / length, error.orientation)
            for error in (found.goal_errors['pen_goal'], best.goal_errors['pen_goal'])
        ]
        missed += costs[0] > 1.01 * costs[1] + 1e-6
    assert missed <= 0.02 * count

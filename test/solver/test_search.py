"""When a search from several starts ends, and what its message says."""

from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism, split
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


def arm(axes, offsets, travel=2.9):
    """Return an arm of hinges about the axes, with offsets before each and of the hand."""
    m, parent = Mechanism('arm'), 'base'
    m.root(parent)
    for at, axis in enumerate(axes):
        m.joint(f'j{at}', parent, f'E{axis}', offsets[at], limits=(-travel, travel))
        parent = f'j{at}_link'
    m.tip('hand', parent, offsets[-1])
    m.goal('hand_goal', 'hand')
    return m


SIDE = (0, 0, 0.1)
ARMS = {
    'ZYYXZ': arm('ZYYXZ', (SIDE, (0.05, 0, 0.1), (0, 0, 0.3), (0, 0, 0.3), (0.06, 0, 0), SIDE)),
    'XZYZY': arm(
        'XZYZY',
        (SIDE, (0.1, 0, 0.1), (0.1, 0.05, 0.2), (0, 0.1, 0.2), (0.05, 0, 0.15), (0.1, 0, 0)),
    ),
    'ZXYXZ': arm(
        'ZXYXZ',
        (
            (0, 0, 0.2),
            (0.2, 0, 0.1),
            (0.1, 0.1, 0.2),
            (0.15, 0, 0.1),
            (0, 0.12, 0.1),
            (0.05, 0, 0.1),
        ),
    ),
}


@pytest.mark.skipif(not is_compiled(), reason='thousands of solves')
@pytest.mark.parametrize('name', ARMS)
def test_reachable_pose_of_arm_with_five_axes_is_not_given_up(name):
    """Many starts of these arms agree on the same local minimum."""
    m, rng = ARMS[name], np.random.default_rng(5)
    solver = m.solver()
    q = rng.uniform(-2.9, 2.9, (600, 5))
    poses = [split(m.naive(solver.joint_names, each).world(m.links['hand'])) for each in q]
    positions, quats = (np.array(each) for each in zip(*poses, strict=True))
    found = solver.solve_batch({'hand_goal': (positions, quats)}, np.zeros(5))
    assert np.flatnonzero(~found.converged).tolist() == []


def unreachable(**options):
    """Solve for a pose that a five-axis arm cannot have, although its position is near."""
    m = ARMS['ZYYXZ']
    solution = m.solver(SolverOptions(**options)).solve_pose(
        {'hand_goal': ((0.3, 0.1, 0.4), UNIT)}
    )
    assert solution.status is Status.STALLED
    return solution


@pytest.mark.parametrize('restarts', [7, 100])
def test_restarts_that_the_user_sets_are_made(restarts):
    """The number of the default as well; the message says that no more were allowed."""
    solution = unreachable(restarts=restarts)
    assert solution.starts == 1 + restarts
    assert f'ended after {1 + restarts} starts, all that were allowed' in solution.message


def test_search_with_default_restarts_ends_when_starts_agree():
    """The message says so."""
    usual = unreachable()
    assert 10 < usual.starts < SolverOptions().restarts
    assert f'after {usual.starts} starts, because independent starts agree' in usual.message
    assert unreachable(agreeing_starts=4).starts < usual.starts


def test_goal_that_is_missed_by_little_is_searched_for_longer():
    """Five axes reach a position with some orientations only."""
    m, rng = ARMS['XZYZY'], np.random.default_rng(2)
    solver, starts = m.solver(), {0.03: [], 1.5: []}
    for q in rng.uniform(-1.5, 1.5, (20, 5)):
        position, quat = split(m.naive(solver.joint_names, q).world(m.links['hand']))
        for angle, made in starts.items():
            turned = Rotation.from_quat(quat) * Rotation.from_euler('y', angle)
            found = solver.solve_pose({'hand_goal': (position, turned.as_quat())}, q)
            if 'agree' in found.message:
                made.append(found.starts)
    few, many = np.median(starts[1.5]), np.median(starts[0.03])
    assert many > 1.5 * few


def test_search_ends_early_where_link_lengths_prove_goal_out_of_reach():
    """Even if many restarts are asked for."""
    m = ARMS['ZYYXZ']
    for options in (SolverOptions(), SolverOptions(restarts=1000)):
        solution = m.solver(options).solve_pose({'hand_goal': ((5, 0, 0), UNIT)})
        assert solution.starts < 20
        assert 'the lengths of the links prove' in solution.message


@pytest.mark.parametrize(('most', 'restarts'), [(1, None), (6, 0)])
def test_short_solves_arrive_where_a_long_one_does(most, restarts):
    """Each goes on with the damping of the one before."""
    options = {} if restarts is None else {'restarts': restarts}
    missed = []
    for seed in range(12):
        m = MECHANISMS['arm6']()
        rng = np.random.default_rng(seed)
        goal = m.goals['hand_goal']
        goal.set_position(*rng.uniform((-0.5, -0.5, 0.2), (0.5, 0.5, 0.8)))
        goal.set_goal_dof('X', 'Y', 'Z')
        long = Solver(m.roots, SolverOptions(restarts=0)).solve()
        if not long[0].converged:
            continue
        m.go_home()
        short = Solver(m.roots, SolverOptions(max_iterations=most, **options))
        for _ in range(300):
            if short.solve()[0].converged:
                break
        else:
            missed.append(seed)
    assert missed == []


@pytest.mark.parametrize('threshold', [10.0, 1e-3])
def test_step_below_stall_threshold_ends_the_solve_as_stalled(threshold):
    """So that no threshold makes a solve slower."""
    m, rng = MECHANISMS['arm6'](), np.random.default_rng(2)
    usual, coarse = m.solver(), m.solver(SolverOptions(stall_threshold=threshold))
    stalled = 0
    for _ in range(20):
        pose = m.pose_of('hand', usual.joint_names, m.random_q(usual.joint_names, rng, 0.5))
        want, found = (each.solve_pose({'hand_goal': pose}) for each in (usual, coarse))
        assert found.iterations <= want.iterations
        if found.status is Status.STALLED:
            stalled += 1
            assert 'moved no joint by more than stall_threshold' in found.message
    assert stalled == 20 or threshold < 10.0

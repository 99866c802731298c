"""A chain at an iterate: motion by the rules of the kernel, and its two Jacobians."""

from itertools import chain

from ik_node.model.request import request_of
from ik_node.solver.methods.loop import Iterate
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
import numpy as np
import pytest
from support.mechanisms import AXES, heavy_arm, held, MECHANISMS, TURNS


def iterates(mechanism, q=None, options=None, euler=False):
    """Return an iterate of every chain, and the q they share."""
    solver = mechanism.solver()
    options = SolverOptions() if options is None else options
    problem = Problem(solver.tree, [request_of(closer) for closer in solver.tree.closers])
    problem.refresh(options)
    q = solver.q if q is None else q.copy()
    rows = JointTable(solver.tree).rows
    return [Iterate(chain, q, rows, options, euler=euler) for chain in problem.chains], q


def random_q(mechanism, seed):
    """Draw a configuration."""
    return mechanism.random_q(mechanism.solver().joint_names, np.random.default_rng(seed))


def test_numeric_and_analytic_jacobian_agree():
    """Including balls and couplings."""
    for name in MECHANISMS:
        m = MECHANISMS[name]()
        options = SolverOptions(jacobian='numeric')
        compared, q = 0, random_q(m, sum(map(ord, name)))
        for here in chain(*(iterates(m, q, options, euler)[0] for euler in (False, True))):
            before = here.x.copy()
            analytic, numeric = here.analytic_jacobian(), here.jacobian()
            np.testing.assert_allclose(numeric, analytic, atol=1e-5)
            np.testing.assert_allclose(here.x, before, atol=1e-14)
            compared += analytic.size
        assert compared > 0


def test_jacobians_of_partial_goals_agree():
    """The same for every choice of rotation axes in every frame."""
    for axes in AXES:
        for turns in TURNS:
            m = held(axes, ('X', 'Z', *turns))
            (here,), _ = iterates(m, random_q(m, 11), SolverOptions(jacobian='numeric'))
            np.testing.assert_allclose(here.jacobian(), here.analytic_jacobian(), atol=1e-5)


def test_jacobians_of_look_at_and_mass_goals_agree():
    """Rows in [rad] with lever points, and rows of all masses."""
    for kind in ['look_at', 'centre_of_mass']:
        m = heavy_arm(kind)
        m.goals['hand_goal'].set_position(0.3, 0.2, 0.1)
        (here,), _ = iterates(m, random_q(m, 12), SolverOptions(jacobian='numeric'))
        assert [block.is_rotation for block in here.blocks] == [kind == 'look_at']
        np.testing.assert_allclose(here.jacobian(), here.analytic_jacobian(), atol=1e-5)
        assert np.abs(here.jacobian()).max() > 0.01


def test_difference_at_upper_limit_goes_down():
    """On its upper limit a joint is moved down, and the column is the same."""
    m = MECHANISMS['arm6']()
    q = m.solver().q
    q[1] = 2.5
    (here,), _ = iterates(m, q, SolverOptions(jacobian='numeric', rotation_step=1e-6))
    np.testing.assert_allclose(here.jacobian()[:, 1], here.analytic_jacobian()[:, 1], atol=1e-5)
    assert np.abs(here.jacobian()[:, 1]).max() > 0.1


def test_fixed_joint_has_zero_column():
    """A joint without room to move has no finite difference."""
    m = MECHANISMS['arm6']()
    m.joints['j3'].lock()
    (here,), _ = iterates(m, None, SolverOptions(jacobian='numeric'))
    assert here.locked.tolist() == [False, False, True, False, False, False]
    assert (here.jacobian()[:, 2] == 0.0).all()


def test_step_keeps_limits_and_couplings():
    """The residual belongs to q."""
    for name in ['mixed', 'ball_limited', 'coupled', 'two_arms', 'hexapod']:
        m = MECHANISMS[name]()
        rng = np.random.default_rng(5)
        for number, here in enumerate(iterates(m)[0]):
            before = here.x.copy()
            here.move(rng.uniform(-0.4, 0.4, here.variable_count))
            assert (here.x >= here.lower).all()
            assert (here.x <= here.upper).all()
            there = m.naive(m.solver().joint_names, here.q, follow=False)
            assert there.limit_excess() <= 0.0
            found = iterates(m, here.q)[0][number]
            np.testing.assert_allclose(found.errors, here.errors, atol=1e-12)
            if here.variable_count:
                assert np.abs(here.x - before).max() > 0.0


def test_step_returns_actual_motion_up_to_limit():
    """Motion beyond a limit does not count."""
    m = MECHANISMS['arm6']()
    (here,), _ = iterates(m)
    room = float(here.upper[1] - here.x[1])
    assert here.move(np.array([0, 9.0, 0, 0, 0, 0])) == pytest.approx(room)
    assert here.move(np.array([0, 9.0, 0, 0, 0, 0])) == 0.0
    assert here.move(np.array([0, -0.1, 0.3, 0, 0, 0])) == pytest.approx(0.3)


def test_euler_option_steps_balls_as_three_angles():
    """With `euler` no variable is stepped by turns, without limits either."""
    m = MECHANISMS['ball']()
    assert iterates(m)[0][0].free_ball.sum() == 6
    assert iterates(m, euler=True)[0][0].free_ball.sum() == 0


def test_sliding_variables_are_in_metres():
    """Sliding joints count in metres."""
    m = MECHANISMS['mixed']()
    options = SolverOptions(translation_step=1e-3, rotation_step=1e-4)
    (here,), _ = iterates(m, options=options)
    by_joint = {'slide': [1], 'screw': [1, 0], 'lift': [1, 1, 0], 'turn': [0]}
    wanted = [kind == 1 for kinds in by_joint.values() for kind in kinds]
    assert here.prismatic.tolist() == wanted
    assert here.difference_steps().tolist() == [1e-3 if kind else 1e-4 for kind in wanted]

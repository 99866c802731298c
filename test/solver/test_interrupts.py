"""Ctrl-C ends every kind of solve, and preparing a solve does not solve."""

import os
import signal
from threading import Timer

from ik_node.kernels.solve_state import ITERATIONS
from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

ENDLESS = SolverOptions(max_iterations=1_000_000, restarts=1_000_000, agreeing_starts=1_000_000)
UNIT = (0.0, 0.0, 0.0, 1.0)
OUT_OF_REACH = (9.0, 1.0, 0.0)
MANY = (np.tile(OUT_OF_REACH, (3, 1)), np.tile(UNIT, (3, 1)))


def solve(solver, goal):
    """Solve for the goals of the objects."""
    solver.problem_for((goal,)).requests[-1].source.set_position(*OUT_OF_REACH)
    solver.solve()


CALLS = {
    'solve': solve,
    'solve_pose': lambda solver, goal: solver.solve_pose({goal: (OUT_OF_REACH, UNIT)}),
    'prepared': lambda solver, goal: solver.prepare([goal])(
        np.array(OUT_OF_REACH), np.array(UNIT), np.zeros(len(solver.joint_names))
    ),
    'solve_batch': lambda solver, goal: solver.solve_batch({goal: MANY}),
    'solve_path': lambda solver, goal: solver.solve_path({goal: MANY}),
}


@pytest.mark.skipif(not is_compiled(), reason='plain Python is interrupted anywhere')
@pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)
def test_interrupt_ends_solve_with_many_restarts(call):
    """The solve raises KeyboardInterrupt, and the solver works afterwards."""
    m = MECHANISMS['fivebar']()
    ((goal, frame),) = m.goals.items()
    solver = m.solver(ENDLESS)
    solver.warm()
    timer = Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call(solver, goal)
    timer.join()
    wanted = m.pose_of(frame.child.name)
    again = m.solver().solve_pose({goal: wanted}, solver.q)
    solution = solver.solve_pose({goal: wanted})
    assert solution.status is Status.CONVERGED
    np.testing.assert_array_equal(solution.q, again.q)


@pytest.mark.skipif(not is_compiled(), reason='thousands of steps')
def test_slicing_does_not_change_answer(monkeypatch):
    """Python regains control after every few steps."""
    m = MECHANISMS['fivebar']()
    goals = {'tool': ((0.3, 1.5, 0.0), UNIT)}
    whole = m.solver().solve_pose(goals)
    monkeypatch.setattr('ik_node.solver.problem.chain_problem.SLICE_WORK', 30)
    monkeypatch.setattr('ik_node.solver.problem.chain_problem.LEAST_SLICE', 1)
    sliced = MECHANISMS['fivebar']().solver()
    prepared = sliced.prepare(['tool'])
    assert whole.iterations > 100
    for solution in (
        sliced.solve_pose(goals),
        prepared(np.array(goals['tool'][0]), np.array(UNIT), sliced.q),
    ):
        assert (solution.iterations, solution.status) == (whole.iterations, whole.status)
        np.testing.assert_array_equal(solution.q, whole.q)


def test_prepare_and_warm_make_no_step():
    """Not one step is made by `prepare`, nor by `warm`."""
    m = MECHANISMS['fivebar']()
    solver = m.solver()
    (goal,) = m.goals
    solver.warm()
    solver.prepare([goal])
    for names in ((goal,), tuple(solver._graph.structure.links)[-1:]):
        for chain in solver.problem_for(names).chains:
            assert chain.work_ints[ITERATIONS] == 0

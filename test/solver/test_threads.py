"""Threads share a solver, and Ctrl-C ends every kind of solve."""

from concurrent.futures import ThreadPoolExecutor
import os
import signal
import sys
from threading import Timer

from ik_node.model.constraint import Closure
from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

COUNT = 200 if is_compiled() else 20


@pytest.fixture(autouse=True)
def often_in_turns():
    """Switch threads as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def asked(m, solver, count):
    """Return reachable goals with the same start."""
    rng, found = np.random.default_rng(5), []
    for _ in range(count):
        q = solver.solve_pose({}, m.random_q(solver.joint_names, rng, 0.2)).q
        found.append(
            {n: m.pose_of(g.child.name, solver.joint_names, q) for n, g in m.goals.items()}
        )
    return found


@pytest.mark.parametrize(('name', 'prepared'), [('hexapod', False), ('arm6', True)])
def test_concurrent_calls_return_their_own_answers(name, prepared):
    """Thousands of calls from four threads."""
    m = MECHANISMS[name]().go_home()
    solver = m.solver()
    q0, goals, call = solver.q, asked(m, solver, 20), solver.prepare(list(m.goals))

    def solve(at):
        wanted = goals[at % len(goals)]
        if not prepared:
            return solver.solve_pose(wanted, q0).q
        return call([p for p, _ in wanted.values()], [r for _, r in wanted.values()], q0).q

    alone = [solve(at) for at in range(len(goals))]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(solve, range(4 * COUNT)))
    for at, q in enumerate(together):
        assert q.tobytes() == alone[at % len(goals)].tobytes()


def test_concurrent_edits_cause_no_wrong_answer():
    """Moves, locks, limits and closures change."""
    m = MECHANISMS['arm6']()
    solver = m.solver()
    base, hand = m.roots[0], m.goals['hand_goal'].child
    q0, going = solver.q, [True]

    def edit():
        rng = np.random.default_rng(7)
        while going[0]:
            base.set_position(*rng.choice([0.0, 0.5], 3))
            m.joints['j2'].set_limits('EY', -float(rng.uniform(1, 3)), 3.0)
            pin = Closure('pin', 'point')
            pin.make_closure(m.links['j2_link'])
            base.add_child(pin)
            base.remove_child(pin)
            pin.remove_child(m.links['j2_link'])

    with ThreadPoolExecutor(1) as pool:
        edits = pool.submit(edit)
        try:
            found = [
                solver.solve_pose({'hand_goal': ((0.4, 0.1, 0.5), (0, 0, 0, 1))}, q0)
                for _ in range(COUNT)
            ]
        finally:
            going[0] = False
        edits.result()
    wanted = np.array((0.4, 0.1, 0.5))
    names, off = solver.joint_names, []
    for answer in found:
        assert np.isfinite(answer.q).all()
        if answer.status is Status.CONVERGED:
            # The base was at one of eight places, and the hand is at the goal from one of them.
            base.set_position(0.0, 0.0, 0.0)
            there = m.naive(names, answer.q).world(hand)[:3, 3]
            moved = wanted - there
            off.append(np.abs(moved - np.round(moved / 0.5) * 0.5).max())
    assert off
    assert max(off) < 2e-6


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

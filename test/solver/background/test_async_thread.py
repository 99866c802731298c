"""Background solver: concurrency, and the life of its thread."""

import asyncio
from concurrent.futures import wait
import gc
import subprocess
import sys
import threading
import time

from ik_node.errors import IkError
from ik_node.solver.background import AsyncSolver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.async_cases import ENDLESS, out_of_reach, reachable, values, workers
from support.mechanisms import MECHANISMS
from support.waiting import PATIENCE, wait_until

# -- beside the caller


def test_future_can_be_awaited_in_asyncio(make_async):
    """Other tasks run meanwhile."""
    m = out_of_reach('hexapod')
    solver = make_async(m.roots, ENDLESS)

    async def stop_soon():
        for _ in range(10):
            await asyncio.sleep(0)
        assert solver.running
        solver.stop()

    async def main():
        future = solver.solve()
        stopping = asyncio.create_task(stop_soon())
        results = await solver.future
        await stopping
        assert await future == results  # again, when it is there already
        return results

    (result,) = asyncio.run(asyncio.wait_for(main(), PATIENCE))
    assert result.goal_errors['pose'].position > 1.0
    np.testing.assert_array_equal(values(m), solver.q)


# -- the thread


def test_dispose_ends_thread_and_notifies_waiters():
    """Every later command raises an error."""
    m = out_of_reach('hexapod')
    solver = AsyncSolver(m.roots, ENDLESS)
    future = solver.solve()
    (worker,) = workers()
    solver.dispose()
    assert not worker.is_alive()
    assert future.cancelled()
    solver.dispose()
    commands = [
        solver.solve,
        solver.stop,
        solver.update_frame_state,
        solver.update_structure,
        solver.update_solver_settings,
        solver.__enter__,
    ]
    names = ['q', 'results', 'results_ready', 'running', 'future', 'options', 'joint_names']
    for use in [*commands, *((lambda name=name: getattr(solver, name)) for name in names)]:
        with pytest.raises(IkError, match='has been disposed of: make a new one'):
            use()


def assert_ends(worker):
    """Verify that the worker thread of an unreferenced solver ends."""
    gc.collect()
    worker.join(PATIENCE)
    assert not worker.is_alive()


def test_unreferenced_running_solver_ends_its_thread():
    """The thread ends although the solve itself would not."""
    m = out_of_reach('hexapod')
    solver = AsyncSolver(m.roots, ENDLESS)
    solver.solve()
    (worker,) = workers()
    del solver
    assert_ends(worker)


def test_future_keeps_its_solver_alive():
    """A solver made on the fly lives until its result is there."""
    m = MECHANISMS['arm6']()
    reachable(m, 9)
    future = AsyncSolver(m.roots).solve()
    gc.collect()
    assert future.result(PATIENCE)[0].status is Status.CONVERGED
    assert max(m.naive().error(m.goals['hand_goal'])) < 1e-5
    wait_until(lambda: workers() == set(), 'the worker to end')


def test_callback_may_solve_or_dispose(make_async):
    """Without waiting for itself."""
    m = out_of_reach('fivebar')
    solver, again = make_async(m.roots, ENDLESS), []
    called, over = threading.Event(), threading.Event()

    def dispose(_):
        solver.dispose()
        over.set()

    def solve(_):
        again.append(solver.solve())
        again[0].add_done_callback(dispose)
        called.set()

    solver.solve().add_done_callback(solve)
    solver.stop()
    assert called.wait(PATIENCE)
    solver.stop()
    assert over.wait(PATIENCE)
    assert again[0].done()
    wait_until(lambda: workers() == set(), 'the worker to end')


def test_interpreter_exits_while_solve_runs(repository):
    """Without output, although dispose was not called."""
    program = (
        'import sys; sys.path.insert(0, "test")\n'
        'from support.mechanisms import MECHANISMS\n'
        'from ik_node import AsyncSolver, SolverOptions\n'
        'm = MECHANISMS["hexapod"]()\n'
        'm.goals["pose"].set_position(3, 2, 9)\n'
        'solver = AsyncSolver(m.roots, SolverOptions(restarts=10**6, agreeing_starts=10**6))\n'
        'solver.solve()\n'
        'print(solver.running)\n'
    )
    done = subprocess.run(
        [sys.executable, '-W', 'error', '-c', program],
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, 'True\n', '')


@pytest.mark.parametrize('seed', range(3))
def test_random_commands_cause_no_deadlock(make_async, seed):
    """Two hundred commands in random order."""
    rng = np.random.default_rng(seed)
    m = MECHANISMS[('fivebar', 'arm6', 'hexapod')[seed % 3]]()
    (goal,) = m.goals.values()
    home = m.pose_of(goal.child.name)[0]
    solver, futures = make_async(m.roots), []

    def move():
        goal.set_position(
            *(home + rng.uniform(-0.05, 0.05, 3) * (1 if rng.random() < 0.7 else 99))
        )

    def jolt():
        joint = list(m.joints.values())[rng.integers(len(m.joints))]
        if joint.dof:
            joint.set_dof_values(*(joint.dof_values[joint.dof] + rng.normal(size=len(joint.dof))))

    def some_future(use):
        if futures:
            use(futures[rng.integers(len(futures))])

    commands = [
        move,
        jolt,
        lambda: futures.append(solver.solve(bool(rng.integers(2)))),
        solver.stop,
        solver.update_frame_state,
        lambda: solver.update_frame_state(goal),
        solver.update_structure,
        lambda: solver.update_solver_settings(
            restarts=int(rng.choice([0, 3, 10**6])), max_iterations=int(rng.choice([1, 5, 100]))
        ),
        lambda: solver.running and solver.results_ready,
        lambda: solver.results,
        lambda: solver.q,
        lambda: some_future(lambda future: future.cancel()),
        lambda: some_future(
            lambda future: (
                future.done() and future.exception(0) if not future.cancelled() else None
            )
        ),
        lambda: time.sleep(rng.choice([0.0, 1e-4, 1e-3])),
    ]
    for at in rng.integers(len(commands), size=200):
        commands[at]()
    solver.stop()
    wait(futures, PATIENCE)
    assert all(future.done() for future in futures)
    wait_until(lambda: not solver.running, 'the solver to rest')
    solver.update_solver_settings(restarts=50, max_iterations=100)
    goal.set_position(*home)
    for joint in m.joints.values():
        joint.set_dof_values(*np.zeros(len(joint.dof)))
    m.go_home()
    (result,) = solver.solve().result(PATIENCE)
    assert result.status is Status.CONVERGED
    assert max(max(m.naive().error(c)) for c in [goal, *m.closures.values()]) <= 1e-5
    solver.dispose()
    assert workers() == set()

"""Background solver: changed options, and errors."""

from ik_node.errors import OptionError, TopologyError
from ik_node.solver.background.solve_worker import SolveJob
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import pytest
from support.async_cases import ENDLESS, out_of_reach, reachable, workers
from support.mechanisms import MECHANISMS
from support.waiting import PATIENCE, wait_until


def test_changed_settings_apply_to_next_solve(make_async, gate):
    """A running solve keeps its options."""
    m = out_of_reach('planar')
    solver = make_async(m.roots, SolverOptions(restarts=3))
    first = solver.solve()
    gate.wait()
    solver.update_solver_settings(restarts=0, seed=7)
    assert solver.options == SolverOptions(restarts=0, seed=7)
    gate.let(2)
    assert first.result(PATIENCE)[0].starts == 4
    assert solver.solve().result(PATIENCE)[0].starts == 1


def test_invalid_setting_is_refused_at_once(make_async):
    """Nothing changes."""
    solver = make_async(MECHANISMS['planar']().roots)
    with pytest.raises(OptionError, match='max_iterations'):
        solver.update_solver_settings(seed=3, max_iteration=3)
    with pytest.raises(OptionError, match=r'restarts: -1 cannot be used; use a whole number'):
        solver.update_solver_settings(seed=3, restarts=-1)
    assert solver.options == SolverOptions()


def test_worker_exception_is_set_on_future(make_async, monkeypatch, capfd):
    """Nothing is printed, results stay, and the thread continues."""
    m = MECHANISMS['arm6']()
    reachable(m, 7)
    solver = make_async(m.roots)
    good = solver.solve().result(PATIENCE)
    with monkeypatch.context() as patch:

        def fail(job):
            raise TopologyError('on purpose')

        patch.setattr(SolveJob, 'run', fail)
        future = solver.solve()
        with pytest.raises(TopologyError, match='on purpose'):
            future.result(PATIENCE)
        assert isinstance(future.exception(), TopologyError)
    assert solver.results == good
    assert not solver.running
    (worker,) = workers()
    reachable(m, 8)
    assert solver.solve().result(PATIENCE)[0].status is Status.CONVERGED
    assert workers() == {worker}
    assert capfd.readouterr() == ('', '')


def test_read_error_is_raised_and_cancels_running_solve(make_async, gate):
    """The reading call raises the error, and the solve of the old state is cancelled."""
    m = MECHANISMS['coupled']()
    solver = make_async(m.roots, ENDLESS)
    name = next(name for name, joint in m.joints.items() if any(joint.couplings))
    joint = m.joints[name]
    (dof,) = joint.dof
    keep = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
    for command in (solver.solve, solver.update_frame_state):
        future = solver.solve()
        gate.wait()
        joint.set_limits(dof, 50.0, 51.0)
        with pytest.raises(OptionError, match=f"limits of '{name}'"):
            command()
        assert future.cancelled()
        joint.set_limits(dof, *keep)
        gate.let()
        wait_until(lambda: not solver.running, 'the solver to rest')

"""Results of a batch, and of one of its problems."""

from ik_node.errors import OptionError
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.batch_cases import batch_of, COUNT, one_by_one


@pytest.fixture(params=['arm6', 'hexapod', 'two_arms'])
def solved(request):
    """Provide a batch and single solves of the same problems."""
    _, solver, goals, starts = batch_of(request.param)
    solver.options = SolverOptions(restarts=2)
    return solver.solve_batch(goals, starts), one_by_one(solver, goals, starts)


def test_item_of_batch_equals_single_solution(solved):
    """Names, reasons, limits and condition number."""
    batch, singles = solved
    for found, single in zip(batch, singles, strict=True):
        np.testing.assert_array_equal(found.q, single.q)
        assert found.status is single.status
        assert (found.iterations, found.starts) == (single.iterations, single.starts)
        assert found.goal_errors == single.goal_errors
        assert found.closure_errors == single.closure_errors
        assert found.active_limits == single.active_limits
        assert found.worst == single.worst
        assert found.message == single.message
        assert len(found.chains) == len(single.chains)
        assert found.condition_number == pytest.approx(single.condition_number)


def test_batch_index_counts_from_either_end(solved):
    """Slices and indices out of range are refused."""
    batch, _ = solved
    np.testing.assert_array_equal(batch[-1].q, batch.q[COUNT - 1])
    np.testing.assert_array_equal(batch[np.int64(3)].q, batch.q[3])
    for row in (COUNT, -COUNT - 1):
        with pytest.raises(IndexError, match=f'problem {row} of {COUNT}'):
            batch[row]
    with pytest.raises(OptionError, match=r'problem: slice'):
        batch[1:3]
    batch[0].q[:] = 99.0
    assert (batch.q[0] != 99.0).all(), 'a view of an answer is a copy'


def test_batch_errors_are_arrays_per_goal():
    """Position and orientation of every goal, and converged where they are small."""
    _, solver, goals, starts = batch_of('arm6', 5 * COUNT)
    batch = solver.solve_batch(goals, starts)
    (error,) = batch.goal_errors.values()
    assert error.position.shape == error.orientation.shape == (5 * COUNT,)
    met = (error.position <= 1e-6) & (error.orientation <= 1e-6)
    np.testing.assert_array_equal(met, batch.converged)
    assert batch.closure_errors == {}
    assert batch.solve_time > 0.0
    assert batch[0].solve_time == pytest.approx(batch.solve_time / (5 * COUNT))


def test_batch_message_counts_statuses_and_gives_first_reason():
    """All, or how many of each kind and why the first."""
    _, solver, goals, starts = batch_of('arm6', 9, far=1.0)
    batch = solver.solve_batch(goals, starts)
    assert (batch.status[2::3] == Status.STALLED).all()
    assert batch.message.startswith('6 CONVERGED, 3 STALLED; first 2: STALLED: no further step')
    assert batch.message in repr(batch)
    near = {name: (p[:2], r[:2]) for name, (p, r) in goals.items()}
    assert solver.solve_batch(near, starts[:2]).message == 'CONVERGED: all 2'

"""The last seconds, as columns to be plotted."""

from ik_node.scene.chain_report import ChainReport
from ik_node.solver.result import PoseError
from ik_node.viewer.panels.plot_panel import History, LEAST, LENGTH, SPAN
import numpy as np


def report(name, residual, solve_time=0.001):
    """Return a report with one goal."""
    errors = {name: PoseError(residual, 0.5 * residual)}
    return ChainReport(name, 'CONVERGED', 'CONVERGED', 3, solve_time, errors, {})


def test_history_has_time_column_and_one_per_chain():
    """Times count back from the last one; residuals are powers of ten, solve times in ms."""
    history = History()
    history.add(10.0, [report('a', 1e-3), report('b', 1e-7, 0.002)])
    history.add(10.5, [report('a', 1e-4), report('b', 0.0)])
    times, a, b = history.residuals()
    np.testing.assert_allclose(times, (-0.5, 0.0))
    np.testing.assert_allclose(a, (-3.0, -4.0))
    np.testing.assert_allclose(b, (-7.0, np.log10(LEAST)))
    np.testing.assert_allclose(history.solve_times()[2], (2.0, 1.0))


def test_other_chains_start_a_new_history():
    """A goal that comes or goes makes other chains."""
    history = History()
    history.add(0.0, [report('a', 1e-3)])
    history.add(1.0, [report('a', 1e-3), report('b', 1e-3)])
    assert history.names == ('a', 'b')
    assert [len(column) for column in history.residuals()] == [1, 1, 1]
    history.add(2.0, [])
    assert [len(column) for column in history.residuals()] == [0]


def test_old_rows_are_dropped():
    """Rows older than its span are dropped, and there are never too many."""
    history = History()
    for number in range(3 * LENGTH):
        history.add(0.001 * number, [report('a', 1e-3)])
    assert len(history.residuals()[0]) == LENGTH
    history.add(1000.0, [report('a', 1e-3)])
    assert len(history.residuals()[0]) == 1
    history.add(1000.0 + 0.9 * SPAN, [report('a', 1e-3)])
    assert len(history.residuals()[0]) == 2

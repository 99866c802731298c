"""Fixtures of the solver's tests: background solvers that end, and scaled robots."""

from pathlib import Path
import sys

from ik_node.solver.background import AsyncSolver
import pytest
from support.async_cases import ENDLESS, Gate, workers

sys.path.append(str(Path(__file__).resolve().parents[2] / 'benchmark'))


@pytest.fixture
def make_async():
    """Return a factory of background solvers that are always disposed of."""
    made = []

    def make(source, options=None):
        made.append(AsyncSolver(source, options))
        return made[-1]

    yield make
    for solver in made:
        solver.dispose()
    assert workers() == set()


@pytest.fixture
def gate(monkeypatch):
    """Hold the worker thread at the start of a run."""
    gate = Gate(monkeypatch)
    yield gate
    gate.let(1000)


@pytest.fixture
def at_work(make_async, gate):
    """Return a function that starts an endless solve held by the gate."""

    def begin(source):
        solver = make_async(source, ENDLESS)
        future = solver.solve()
        gate.wait()
        return solver, future

    return begin

"""What tests of the solver in a worker thread share."""

from async_cases import Gate, workers
from ik_node.solver.async_solver import AsyncSolver
import pytest


@pytest.fixture
def make_async():
    """Return how to make a solver that is disposed of whatever happens."""
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
    """Hold the worker where a run begins."""
    gate = Gate(monkeypatch)
    yield gate
    gate.let(1000)

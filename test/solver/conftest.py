"""What tests of the solver share: workers that end, and the benchmark's way to scale a robot."""

from pathlib import Path
import sys

from ik_node.solver.background.async_solver import AsyncSolver
import pytest
from support.async_cases import ENDLESS, Gate, workers

sys.path.append(str(Path(__file__).resolve().parents[2] / 'benchmark'))


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


@pytest.fixture
def at_work(make_async, gate):
    """Return how to begin an endless solve that the gate holds; it returns solver and future."""

    def begin(source):
        solver = make_async(source, ENDLESS)
        future = solver.solve()
        gate.wait()
        return solver, future

    return begin

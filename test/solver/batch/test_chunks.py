"""`run_chunks`: order, bounded memory, a killed worker, errors, and Ctrl-C."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
import os
import threading

from ik_node.errors import EngineError, ShapeError
from ik_node.solver.batch.engines import open_engine, PER_WORKER, run_chunks
import pytest
from support import chunk_functions as work


def chunks(count, size=10):
    """Return chunks of `size` rows whose data are their numbers."""
    return [(range(size * n, size * (n + 1)), n) for n in range(count)]


@pytest.fixture(scope='module')
def pool():
    """Provide two processes, which are renewed when a test kills one."""
    with open_engine('processes', 2) as executor:
        yield executor


def test_killed_worker_is_an_error():
    """The error names the first rows that are not solved."""
    with ProcessPoolExecutor(1, get_context('spawn')) as executor:
        run = run_chunks(executor, work.die_always, 0, chunks(20))
        with pytest.raises(EngineError, match=r'rows \d*0 to \d*9: a worker was killed'):
            list(run)


def test_errors_of_a_chunk_arrive(pool):
    """Our own ones unchanged, others with their rows and with the worker's traceback."""
    run = run_chunks(pool, work.refuse, 0, chunks(4))
    with pytest.raises(ShapeError, match='pose in row 3: expected finite'):
        list(run)
    with pytest.raises(EngineError, match='rows 40 to 49: ZeroDivisionError: no more') as found:
        list(run_chunks(pool, work.refuse, 0, chunks(5)[4:]))
    assert 'in refuse' in str(found.value.__cause__.__cause__)


def test_end_of_run_cancels_waiting_chunks():
    """After Ctrl-C in the consumer no chunk begins that has not begun."""
    gate, begun = threading.Event(), []

    class Held(ThreadPoolExecutor):
        def submit(self, fn, /, *args):
            def held():
                begun.append(1)
                gate.wait(10.0)
                return fn(*args)

            return super().submit(held)

    def interrupt(_):
        raise KeyboardInterrupt

    with Held(1) as executor:
        gate.set()
        run = run_chunks(executor, work.add, 0, chunks(50), interrupt)
        with pytest.raises(KeyboardInterrupt):
            list(run)
    assert len(begun) <= PER_WORKER


def test_processes_end_with_an_interrupted_block():
    """At once, and without a traceback of theirs."""
    numbers = []

    def interrupted():
        with open_engine('processes', 1) as executor:
            numbers.extend(run_chunks(executor, work.process_of, 0, chunks(1)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    (number,) = numbers
    assert number != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)

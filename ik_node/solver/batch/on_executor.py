"""
Work in chunks on any executor, with results in order and bounded memory.

An executor has the interface of `concurrent.futures.Executor`: a pool of threads or processes,
`distributed.Client.get_executor()`, or one of `ik_node.solver.batch.engines`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from hashlib import sha256
import os
import pickle
from queue import Empty, SimpleQueue
from time import monotonic
from traceback import format_exc
from typing import Any, NamedTuple

from ik_node.errors import EngineError, IkError, OptionError

# Most problems per part and thread of a worker: enough that an engine's time per part, a few
# milliseconds, is small against that of the solves. With few problems, so many parts per worker
# that all of them finish at about the same time.
MOST_ROWS, PARTS = 5000, 4
# Chunks that are sent or finished but not yet yielded, per worker: enough to keep every worker
# busy while one chunk takes longer than the others.
PER_WORKER = 4
# A chunk that was in flight so many times when a worker was killed, or whose result the engine
# lost so many times, is an error.
MOST_TRIES = 3
# Time after which the number of workers is read again, because a cluster may grow [s].
PERIOD = 2.0
# Shared objects that a worker keeps.
MOST_KEPT = 4


class Answer(NamedTuple):
    """
    What a worker sends back.

    Errors of the function travel as values, so that any exception of a future is one of the
    engine. `distributed` raises a ValueError, for example, if a worker is killed just after its
    result was fetched.

    Attributes
    ----------
    known : bool
        False if the worker has not received the shared object yet.
    result : object
        The result of the function.
    error : IkError or str, optional
        The error of the function; a text if it is not one of ours, as it may not be picklable.
    traceback : str
        Where an error that is not one of ours was raised.

    """

    known: bool
    result: Any = None
    error: IkError | str | None = None
    traceback: str = ''


class Chunk(NamedTuple):
    """
    A part of the work.

    Attributes
    ----------
    rows : range
        Its problems, for messages and for the progress.
    data : object
        Argument of the function; it can be pickled.

    """

    rows: range
    data: Any


def run_chunks(
    executor: Executor,
    function: Callable[[Any, Any], Any],
    shared: object,
    chunks: Iterable[Chunk],
    progress: Callable[[int], object] | None = None,
) -> Generator[Any, None, None]:
    """
    Yield function(shared, chunk.data) for every chunk, in the order of the chunks.

    A limited number of chunks is in memory at a time, so that the number of chunks may be
    unlimited. If the generator is closed, or raises, all chunks that have not begun are cancelled.

    Parameters
    ----------
    executor : Executor
        Runs the chunks. If it has a method `renew`, that is called when a worker was killed, and
        the unfinished chunks run again. Attributes `workers` and `most_in_flight`, if there are
        any, are the number of workers, and of chunks that are sent or finished but not yielded.
    function : callable
        Function of `shared` and the data of a chunk, which workers can import.
    shared : object
        Data of all chunks. It travels once to every worker.
    chunks : iterable of Chunk
        The work.
    progress : callable, optional
        Called by the calling thread with the number of problems that are solved.

    Raises
    ------
    OptionError
        If the executor is something else.
    EngineError
        If a chunk fails with another error than an `IkError`, or its worker is killed, or its
        result lost by the engine, three times; the message names the rows. Or if the executor
        takes no work, for example after its shutdown.

    """
    if isinstance(executor, type) or not callable(getattr(executor, 'submit', None)):
        raise OptionError('executor', executor, 'an object as of concurrent.futures, or None')
    data = pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)
    run = _Run(executor, function, data, progress)
    try:
        yield from run.results(iter(chunks))
    finally:
        run.cancel()


def worker_count(executor: Executor) -> int:
    """Return the number of workers of an executor; of an unknown one, the number of cores."""
    client: Any = getattr(executor, '_client', None)  # of `distributed`
    if hasattr(client, 'nthreads'):
        return max(1, sum(map(int, client.nthreads().values())))
    for name in ('workers', '_max_workers'):
        count = getattr(executor, name, None)
        if isinstance(count, int):
            return max(1, count)
    return os.cpu_count() or 1


def part_size(rows: int, executor: Executor, threads: int) -> int:
    """Return the number of rows of a part, for workers with so many threads each."""
    return max(1, min(MOST_ROWS * threads, rows // (PARTS * worker_count(executor))))


_kept: dict[str, Any] = {}


def call(
    function: Callable[[Any, Any], Any], digest: str, shared: bytes | None, data: object
) -> Answer:
    """
    Call a function in a worker, with the shared object that the worker keeps.

    Parameters
    ----------
    function : callable
        Function of the shared object and of `data`.
    digest : str
        Digest of the pickled shared object.
    shared : bytes or None
        The pickled shared object; None = it has been sent before.
    data : object
        The data of a chunk.

    Returns
    -------
    Answer

    """
    try:
        if digest not in _kept:
            if shared is None:
                return Answer(known=False)
            while len(_kept) >= MOST_KEPT:
                _kept.pop(next(iter(_kept)), None)
            _kept[digest] = pickle.loads(shared)
        return Answer(known=True, result=function(_kept[digest], data))
    except IkError as error:
        return Answer(known=True, error=error)
    except Exception as error:  # noqa: BLE001  it travels as a text
        said = f'{type(error).__name__}: {error}'
        return Answer(known=True, error=said, traceback=format_exc())


class _Run:
    """One call of `run_chunks`; chunks are numbered in their order."""

    def __init__(
        self,
        executor: Executor,
        function: Callable[[Any, Any], Any],
        shared: bytes,
        progress: Callable[[int], object] | None,
    ) -> None:
        self._executor, self._function, self._shared = executor, function, shared
        self._digest = sha256(shared).hexdigest()
        self._progress = progress
        self._chunks: dict[int, Chunk] = {}  # sent, or finished but not yet yielded
        self._tries: dict[int, int] = {}
        self._flying: dict[Future[Any], int] = {}
        self._alone: deque[int] = deque()
        self._results: dict[int, Any] = {}
        self._ended: SimpleQueue[Future[Any]] = SimpleQueue()
        self._workers, self._counted = 1, -PERIOD
        self._solved = 0

    def results(self, chunks: Iterator[Chunk]) -> Iterator[Any]:
        """Yield the results in order."""
        sent = yielded = 0
        while True:
            while not self._alone and sent - yielded < self._most_in_flight():
                chunk = next(chunks, None)
                if chunk is None:
                    break
                self._chunks[sent] = chunk
                # The first chunks bring the shared object along; later ones may find it there.
                self._send(sent, with_shared=sent < self._workers)
                sent += 1
            if sent == yielded:
                return
            while yielded not in self._results:
                if self._alone and not self._flying:
                    self._send(self._alone.popleft())
                self._take()
            del self._chunks[yielded]
            yield self._results.pop(yielded)
            yielded += 1

    def cancel(self) -> None:
        """Cancel all chunks that have not begun."""
        for future in list(self._flying):
            future.cancel()
        self._flying.clear()

    def _most_in_flight(self) -> int:
        """Return the limit for chunks in memory; the number of workers may grow."""
        if monotonic() - self._counted >= PERIOD:
            self._workers, self._counted = worker_count(self._executor), monotonic()
        return getattr(self._executor, 'most_in_flight', PER_WORKER * self._workers)

    def _send(self, number: int, *, with_shared: bool = True) -> None:
        shared = self._shared if with_shared else None
        data = self._chunks[number].data
        try:
            future = self._executor.submit(call, self._function, self._digest, shared, data)
        except BrokenExecutor as error:
            self._after_kill([number], error)
            return
        except RuntimeError as error:  # after a shutdown
            raise EngineError(f'the executor takes no work: {error}') from error
        if not callable(getattr(future, 'add_done_callback', None)):
            kind = type(future).__name__
            allowed = f'one whose submit returns a Future, not {kind}'
            raise OptionError('executor', self._executor, allowed)
        self._flying[future] = number
        future.add_done_callback(self._ended.put)

    def _take(self) -> None:
        """Wait for one of the chunks and take its result, or send it again."""
        try:
            # With a timeout, Ctrl-C ends the wait on every platform.
            future = self._ended.get(timeout=1.0)
        except Empty:
            return
        number = self._flying.pop(future, None)
        if number is None:
            return
        rows = self._chunks[number].rows
        try:
            answer = future.result()
        except BrokenExecutor as error:
            self._after_kill([number], error)
            return
        except Exception as error:
            if self._count_try(number) >= MOST_TRIES:
                raise EngineError(f'{type(error).__name__}: {error}', rows) from error
            self._send(number)
            return
        if isinstance(answer.error, IkError):
            raise answer.error
        if answer.error is not None:
            raise EngineError(answer.error, rows) from RuntimeError(answer.traceback)
        if not answer.known:
            self._send(number)
            return
        self._results[number] = answer.result
        self._tries.pop(number, None)
        self._solved += len(rows)
        if self._progress is not None:
            self._progress(self._solved)

    def _count_try(self, number: int) -> int:
        """Count a try of a chunk that gave no answer; return the number of such tries."""
        self._tries[number] = self._tries.get(number, 0) + 1
        return self._tries[number]

    def _after_kill(self, lost: list[int], error: BrokenExecutor) -> None:
        """
        Send the chunks again that were in flight when a worker was killed.

        All of them may have killed it. A chunk for which this happens twice then runs alone, so
        that the third time shows which one it is.
        """
        for future, number in list(self._flying.items()):
            if not future.done() or isinstance(future.exception(), BrokenExecutor):
                del self._flying[future]
                lost.append(number)
        rows = self._chunks[min(lost)].rows
        renew = getattr(self._executor, 'renew', None)
        if renew is None:
            raise EngineError(f'a worker was killed ({error})', rows) from error
        renew()
        again = []
        for number in sorted(lost):
            if self._count_try(number) >= MOST_TRIES:
                why = f'their worker was killed {MOST_TRIES} times ({error})'
                raise EngineError(why, self._chunks[number].rows) from error
            if self._tries[number] == MOST_TRIES - 1:
                self._alone.append(number)
            else:
                again.append(number)
        for number in again:
            self._send(number)

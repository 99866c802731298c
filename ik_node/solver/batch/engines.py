"""
Work in chunks on executors, and the engines of the command line: threads, processes, Dask.

An executor has the interface of `concurrent.futures.Executor`: a pool of threads or processes, or
`distributed.Client.get_executor()`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
import logging
from multiprocessing import get_context, parent_process
import os
import pickle
import signal
from threading import Thread
from typing import Any

from ik_node.errors import EngineError, IkError, OptionError
from ik_node.model.given import whole_number

ENGINES = ('threads', 'processes', 'dask')
# Most problems per part and thread of a worker: enough that an engine's time per part, a few
# milliseconds, is small against that of the solves. With few problems, so many parts per worker
# that all of them finish at about the same time.
MOST_ROWS, PARTS = 5000, 4
# Chunks that are sent or finished but not yet yielded, per worker: enough to keep every worker
# busy while one chunk takes longer than the others.
PER_WORKER = 4
# Longest time to connect to a cluster [s].
CONNECT_SECONDS = 10.0
# Dask keeps its last 1000 messages for a post-mortem, and with them that many parts; and its
# workers stop a hundred times a second to profile themselves.
DASK_CONFIG = {
    'distributed.admin.low-level-log-length': 10,
    'distributed.worker.profile.enabled': False,
}
# A module for workers of Dask that this process starts: Ctrl-C is left to this process.
LEAVE_INTERRUPTS = 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n'


def run_chunks(
    executor: Executor | None,
    function: Callable[[Any, Any], Any],
    shared: object,
    chunks: Iterable[tuple[range, Any]],
    progress: Callable[[int], object] | None = None,
) -> Generator[Any, None, None]:
    """
    Yield function(shared, data) for every chunk, in order; a chunk is its problems and the data.

    A limited number of chunks is in memory at a time, so that the number of chunks may be
    unlimited. If the generator is closed, or raises, all chunks that have not begun are cancelled.

    Without an executor this thread does the work. Workers import the function, and unpickle the
    shared object once. `progress` is called by this thread with the number of problems that are
    solved. Raises EngineError if a chunk fails with another error than an `IkError`, or a worker
    is killed; the message names the rows.
    """
    if executor is not None and (
        isinstance(executor, type) or not callable(getattr(executor, 'submit', None))
    ):
        raise OptionError('executor', executor, 'an object as of concurrent.futures, or None')
    packed = b'' if executor is None else pickle.dumps(shared, pickle.HIGHEST_PROTOCOL)
    left, solved, waiting = iter(chunks), 0, deque[tuple[range, Any]]()
    try:
        while True:
            room = 1 if executor is None else PER_WORKER * worker_count(executor)
            for rows, data in islice(left, max(room - len(waiting), 0)):
                sent = data
                if executor is not None:
                    with _naming(rows):
                        sent = executor.submit(_call, function, packed, data)
                waiting.append((rows, sent))
            if not waiting:
                return
            rows, sent = waiting[0]
            if executor is None:
                result = function(shared, sent)
            else:
                with _naming(rows):
                    result = sent.result()
            waiting.popleft()
            solved += len(rows)
            if progress is not None:
                progress(solved)
            yield result
    finally:
        for _, sent in waiting if executor is not None else ():
            sent.cancel()


@contextmanager
def _naming(rows: range) -> Iterator[None]:
    """Name the rows of a part in errors that are not our own."""
    try:
        yield
    except IkError:
        raise
    except BrokenExecutor as error:
        raise EngineError(f'a worker was killed ({error})', rows) from error
    except Exception as error:
        raise EngineError(f'{type(error).__name__}: {error}', rows) from error


def _call(function: Callable[[Any, Any], Any], packed: bytes, data: object) -> Any:
    """Call a function in a worker, which keeps the last shared objects."""
    return function(_unpickled(packed), data)


_unpickled = lru_cache(maxsize=4)(pickle.loads)


def thread_count(threads: int | None, name: str = 'threads') -> int:
    """Return a number of threads or workers; None = one per core. Errors use `name`."""
    return cores() if threads is None else whole_number(name, threads, 1)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_count(executor: Executor) -> int:
    """Return the number of workers of an executor; of an unknown one, the number of cores."""
    client: Any = getattr(executor, '_client', None)  # of `distributed`
    if hasattr(client, 'nthreads'):
        return max(1, sum(map(int, client.nthreads().values())))
    count = getattr(executor, '_max_workers', None)
    return max(1, count) if isinstance(count, int) else os.cpu_count() or 1


def part_size(rows: int, executor: Executor | None, threads: int) -> int:
    """Return the number of rows of a part, for workers with so many threads each."""
    workers = 1 if executor is None else worker_count(executor)
    return max(1, min(MOST_ROWS * threads, rows // (PARTS * workers)))


@contextmanager
def open_engine(
    name: str, workers: int | None = None, address: str | None = None
) -> Iterator[Executor | None]:
    """
    Open an executor for `run_chunks`, and close it at the end of the `with` block.

    An exception in the block, such as Ctrl-C, ends workers that this function started at once.

    Parameters
    ----------
    name : str
        'threads' (None is opened: the threads of this process solve), 'processes' (of this
        machine, started with spawn) or 'dask'.
    workers : int, optional
        Number of workers to start; None = one per core of this machine.
    address : str, optional
        Address of the scheduler of a running Dask cluster; None = workers on this machine.

    Raises
    ------
    OptionError
        If there is no such engine, or the arguments do not fit it.
    EngineError
        If Dask is not installed, or the cluster does not answer.

    """
    if name not in ENGINES:
        raise OptionError('engine', name, ', '.join(ENGINES))
    if workers is not None and name == 'threads':
        raise OptionError('workers', workers, 'none with the engine threads; set threads')
    if address is not None and name != 'dask':
        raise OptionError('address', address, f'none with the engine {name}')
    if address is not None and workers is not None:
        raise OptionError('workers', workers, 'none with an address: the cluster has its own')
    count = thread_count(workers, 'workers')
    if name == 'threads':
        yield None
        return
    with _dask(count, address) if name == 'dask' else _processes(count) as executor:
        yield executor


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    pool = _Processes(workers, get_context('spawn'), _begin_worker)
    try:
        yield pool
        pool.wait()
    finally:
        # Also idle processes are killed: if one was killed from outside while it held the lock of
        # the queue, the others would wait for that lock for ever, and `shutdown` for them.
        pool.kill()


class _Processes(ProcessPoolExecutor):
    """A pool that leaves Ctrl-C to this process, and whose processes can be ended at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call; see `concurrent.futures.Executor.submit`."""
        # A new process ignores Ctrl-C only after its imports. Until then the signal is blocked,
        # which a process inherits from the thread that starts it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def wait(self) -> None:
        """Wait until all calls have ended."""
        manager: Any = self._executor_manager_thread
        if manager is not None:
            wait([item.future for item in list(manager.pending_work_items.values())])

    def kill(self) -> None:
        """End all processes at once."""
        own: Any = self
        processes, manager = list((own._processes or {}).values()), own._executor_manager_thread
        calls, results = own._call_queue, own._result_queue
        if manager is not None:
            # In Python 3.10 and 3.11 the thread would raise an error for cancelled calls.
            manager.pending_work_items.clear()
        self.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        if manager is not None:
            # Another thread may be writing to the pipe that no process reads any more, or reading
            # a result of which only a part was written. It would wait for ever, because this
            # process has the other ends, too.
            with suppress(OSError), open(os.devnull, 'r+b', buffering=0) as nothing:
                os.dup2(nothing.fileno(), calls._reader.fileno())
                os.dup2(nothing.fileno(), results._writer.fileno())
            manager.join()


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent process, and end this process when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _dask(workers: int, address: str | None) -> Iterator[Executor]:
    if find_spec('distributed') is None:
        raise EngineError("distributed is not installed; run: pip install 'ik_node[dask]'")
    import dask
    from distributed import Client, LocalCluster

    logging.getLogger('distributed').setLevel(logging.ERROR)
    logging.getLogger('tornado.application').addFilter(_is_no_late_result)
    dask.config.set(DASK_CONFIG)
    cluster = None
    if address is None:
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            # Without an address of its own, the scheduler warns of any other one on this machine.
            dashboard_address='127.0.0.1:0',
            scheduler_kwargs={'dashboard': False},
            silence_logs=logging.ERROR,
            preload=[LEAVE_INTERRUPTS],
        )
    try:
        try:
            client = Client(cluster or address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EngineError(f'Dask cluster {address}: {error}') from None
        with client:
            # Chunks have a name of their own: to hash them for one would take as long as to send.
            # Dask solves the chunk of a killed worker again by itself.
            yield client.get_executor(pure=False)
    finally:
        if cluster is not None:
            cluster.close()


def _is_no_late_result(record: logging.LogRecord) -> bool:
    """Return False for the report of a result that comes after its chunk was cancelled."""
    return '_discard_future_result' not in record.getMessage()

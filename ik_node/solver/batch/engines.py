"""The engines of the command line: executors of threads, processes, Dask and Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
import logging
from multiprocessing import get_context, parent_process
import os
import signal
import socket
from threading import Thread
from typing import Any

from ik_node.errors import EngineError, OptionError
from ik_node.solver.batch.batch_run import cores, thread_count

ENGINES = ('threads', 'processes', 'dask', 'ray')
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


@contextmanager
def open_engine(
    name: str, workers: int | None = None, address: str | None = None
) -> Iterator[Executor]:
    """
    Open an executor for `run_chunks`, and close it at the end of the `with` block.

    An exception in the block, such as Ctrl-C, ends workers that this function started at once.

    Parameters
    ----------
    name : str
        'threads' (each part is solved by the threads of this process), 'processes' (of this
        machine, started with spawn), 'dask' or 'ray'.
    workers : int, optional
        Number of workers to start; None = one per core of this machine.
    address : str, optional
        Address of the scheduler of a running Dask cluster, or of a Ray cluster; None = workers
        on this machine.

    Raises
    ------
    OptionError
        If there is no such engine, or the arguments do not fit it.
    EngineError
        If the engine is not installed, or does not answer.

    """
    if name not in ENGINES:
        raise OptionError('engine', name, ', '.join(ENGINES))
    if workers is not None and name == 'threads':
        raise OptionError('workers', workers, 'none with the engine threads; set threads')
    if address is not None and name not in ('dask', 'ray'):
        raise OptionError('address', address, f'none with the engine {name}')
    if address is not None and workers is not None:
        raise OptionError('workers', workers, 'none with an address: the cluster has its own')
    count = thread_count(workers, 'workers')
    opened = {'threads': _threads, 'processes': _processes, 'dask': _dask, 'ray': _ray}[name]
    with opened(count, address) as executor:
        yield executor


@contextmanager
def _threads(_workers: int, _address: str | None) -> Iterator[Executor]:
    yield Inline()


class Inline(Executor):
    """Calls in the calling thread, so that Ctrl-C ends a part that is being solved."""

    workers = most_in_flight = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function and return its result as a finished future; exceptions are raised."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def _processes(workers: int, _address: str | None) -> Iterator[Executor]:
    pool = Processes(workers)
    try:
        yield pool
    except BaseException:
        pool.kill()
        raise
    pool.shutdown()


class Processes(Executor):
    """
    A pool of processes that starts new processes when one was killed.

    Parameters
    ----------
    workers : int
        Number of processes.

    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = self._open()
        self._futures: set[Future[Any]] = set()

    def _open(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, get_context('spawn'), begin_worker)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call; see `concurrent.futures.Executor.submit`."""
        # A new process leaves Ctrl-C to its parent only after its imports. Until then the signal
        # is blocked, which a process inherits from the thread that starts it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            future = self._pool.submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _forget_cancelled_calls(self._pool)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def renew(self) -> None:
        """Replace all processes."""
        self.kill()
        self._pool = self._open()

    def kill(self) -> None:
        """End all processes at once."""
        pool: Any = self._pool
        processes = list((pool._processes or {}).values())
        calls, results = pool._call_queue, pool._result_queue
        manager = pool._executor_manager_thread
        pool.shutdown(wait=False, cancel_futures=True)
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

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """
        End the processes when they are idle; see `concurrent.futures.Executor.shutdown`.

        Idle processes are killed: if one was killed from outside while it held the lock of the
        queue, the others would wait for that lock for ever, and the pool for them.
        """
        if not wait:
            self._pool.shutdown(wait=False, cancel_futures=cancel_futures)
            return
        if cancel_futures:
            for future in list(self._futures):
                future.cancel()
        futures.wait(set(self._futures))
        self.kill()


def _forget_cancelled_calls(pool: Any) -> None:
    """
    Have the thread that manages a pool forget its cancelled calls if a process is killed.

    In Python 3.10 and 3.11 it would end with an InvalidStateError, as it sets an error for them.
    """
    manager = pool._executor_manager_thread
    if 'terminate_broken' in vars(manager):
        return
    terminate = manager.terminate_broken

    def without_cancelled(cause: object) -> None:
        pending = manager.pending_work_items
        for number in [number for number, item in pending.items() if item.future.cancelled()]:
            del pending[number]
        terminate(cause)

    manager.terminate_broken = without_cancelled


def begin_worker() -> None:
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
    _require('dask', 'distributed')
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
            yield client.get_executor(pure=False)
    finally:
        if cluster is not None:
            cluster.close()


def _is_no_late_result(record: logging.LogRecord) -> bool:
    """Return False for the report of a result that comes after its chunk was cancelled."""
    return '_discard_future_result' not in record.getMessage()


@contextmanager
def _ray(workers: int, address: str | None) -> Iterator[Executor]:
    _require('ray', 'ray')
    import ray

    options: dict[str, Any] = {'num_cpus': workers, 'include_dashboard': False}
    try:
        if address is not None:
            options = {'address': address}
            _connect(address)
        ray.init(**options, logging_level=logging.ERROR, log_to_driver=False)
    except (OSError, RuntimeError, ValueError) as error:
        raise EngineError(f'Ray cluster {address}: {error}') from None
    try:
        yield RayExecutor(ray)
    finally:
        ray.shutdown()


def _connect(address: str) -> None:
    """Raise OSError if nothing listens at HOST:PORT; Ray itself would wait for minutes."""
    host, _, port = address.rpartition('://')[2].rpartition(':')
    if port.isdigit():
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()


class RayExecutor(Executor):
    """
    Calls as tasks of Ray, one core each.

    Parameters
    ----------
    ray : module
        The module `ray`, after `ray.init`.

    """

    def __init__(self, ray: Any) -> None:
        self._ray, self._remote = ray, ray.remote(_apply)

    @property
    def workers(self) -> int:
        """Return the number of cores of the cluster."""
        return int(self._ray.cluster_resources().get('CPU', 0)) or cores()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call; Ray repeats it up to three times if its worker is killed."""
        future: Future[Any] = self._remote.remote(fn, args, kwargs).future()
        return future


def _apply(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)


def _require(engine: str, module: str) -> None:
    if find_spec(module) is None:
        raise EngineError(f"{module} is not installed; run: pip install 'ik_node[{engine}]'")

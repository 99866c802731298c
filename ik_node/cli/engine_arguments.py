"""Command line arguments for the engine that solves many problems."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from ik_node.solver.batch.engines import ENGINES, open_engine, thread_count


def add_engine_arguments(parser: argparse.ArgumentParser, *, chunk: bool = False) -> None:
    """Add --engine, --workers, --address and --threads; with `chunk` also --chunk."""
    parser.add_argument(
        '--engine',
        choices=ENGINES,
        default='threads',
        help='what solves the problems; dask also on other machines; default threads',
    )
    parser.add_argument(
        '--workers', type=int, metavar='N', help='worker processes; default: one per core'
    )
    parser.add_argument('--address', metavar='HOST:PORT', help='address of a running Dask cluster')
    parser.add_argument(
        '--threads',
        type=int,
        metavar='N',
        help='threads; default: one per core. With another engine: threads per worker, default 1',
    )
    if chunk:
        parser.add_argument(
            '--chunk', type=int, metavar='N', help='most problems that a worker takes at a time'
        )


@contextmanager
def engine_of(args: argparse.Namespace) -> Iterator[tuple[Executor | None, int, int | None]]:
    """
    Open the engine that the arguments name.

    Yields the executor (None = the threads of this process), the number of threads per worker, and
    the largest number of problems per chunk (None = chosen).
    """
    alone = args.engine == 'threads'
    threads = 1 if args.threads is None and not alone else thread_count(args.threads)
    chunk = getattr(args, 'chunk', None)
    most = None if chunk is None else thread_count(chunk, 'chunk')
    with open_engine(args.engine, args.workers, args.address) as executor:
        yield executor, threads, most

"""
The loop of a solver process: it reads problems and writes times and answers.

A line of JSON on stdin is a request, a line on the first stdout the reply; what libraries print
goes to stderr. Times are taken here, by perf_counter around the call and nothing else.

Calls of more than 0.1 ms are measured by the processor time of the process as well, and the
smaller of both counts: on a shared machine others take the core in the middle of long calls, and
hardly ever in the middle of short ones, which would flatter whoever is fast.
"""

from __future__ import annotations

from collections.abc import Callable
import gc
import json
import os
import resource
from statistics import median
import sys
from time import perf_counter, process_time
from typing import Any, NamedTuple, Protocol

# Both are read when NumPy and Numba are imported; whoever starts this process sets them, too.
for _name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_name, '1')

MOST_MEMORY = 3 << 30  # [bytes]
LONG = 1e-4  # median call [s]


class Unfit(Exception):  # noqa: N818
    """An error that states why a solver cannot do a task."""


class Answer(NamedTuple):
    """An answer in the mechanism's joint order; None if a solver does not report it."""

    q: list[float]
    iterations: int | None = None
    claims: bool | None = None


class Player(Protocol):
    """A solver with one task loaded."""

    # What is handed to `solve`, one entry a problem, made outside the clock.
    cases: list[Any]

    def solve(self, case: Any) -> Any:
        """Do the timed work: everything required for a new problem."""

    def read(self, raw: Any) -> Answer:
        """Return the answer for a result of `solve`."""


def serve(make: Callable[[dict[str, Any], float, dict[str, Any]], Player], version: str) -> None:
    """Answer requests until stdin ends; `make` gets a task, a tolerance and options."""
    # Some libraries want memory by the cube of the joints: that shall be their failure alone.
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    replies = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    players: list[Player] = []
    # By seat, whether its calls took long in the pass before.
    long: dict[int, bool] = {}

    def reply(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message) + '\n')
        replies.flush()

    reply({'version': version})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request['do'] == 'load':
                players.append(make(request['task'], request['tolerance'], request['options']))
                reply({'seat': len(players) - 1})
            elif request['do'] == 'pass':
                seat = request['seat']
                done = one_pass(players[seat], request['seconds'], long.get(seat, False))
                long[seat] = median(done['times']) > LONG
                reply(done)
            else:
                players.clear()
                long.clear()
                reply({})
        except Unfit as reason:
            reply({'unfit': str(reason)})
        except Exception as error:  # noqa: BLE001  whatever a library raises is its result
            reply({'unfit': f'{type(error).__name__}: {error}'.splitlines()[0][:200]})


def one_pass(player: Player, seconds: float, long: bool) -> dict[str, Any]:
    """Solve every problem once, or as many as the time allows."""
    solve, times, raws = player.solve, [], []
    gc.collect()
    gc.disable()
    ends = perf_counter() + seconds
    for case in player.cases:
        worked = process_time() if long else 0.0
        begin = perf_counter()
        raw = solve(case)
        end = perf_counter()
        times.append(min(end - begin, process_time() - worked) if long else end - begin)
        raws.append(raw)
        if end > ends:
            break
    gc.enable()
    answers = [player.read(raw) for raw in raws]
    return {
        'times': times,
        'q': [list(map(float, answer.q)) for answer in answers],
        'iterations': [answer.iterations for answer in answers],
        'claims': [answer.claims for answer in answers],
    }

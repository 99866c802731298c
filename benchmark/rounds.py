"""Rounds of a task: every solver in turn solves all problems once per round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from players import Entry, Worker
from tasks.judge import Array, errors, limit_excess
from tasks.task import Form, Task

# A limit may be exceeded by rounding only; at the loose tolerance by what rounding does to
# solvers that stop a step outside of their limits.
TIGHT, LOOSE = (1e-6, 1e-9), (1e-4, 1e-6)


@dataclass
class Entrant:
    """An entry with a loaded task and its replies so far."""

    entry: Entry
    worker: Worker
    form: Form
    replies: list[dict[str, Any]]
    unfit: str = ''
    seat: int = 0


def enter(task: Task, entries: list[Entry], worker_of: Callable[[str], Worker]) -> list[Entrant]:
    """Return the entries that can do a task; a form is only for tasks that have it."""
    entrants = []
    for entry in entries:
        form = task.form(entry.form)
        kinds = {'', 'driven' if form.driven else 'goals'}
        if not form.mechanism.loops and len(form.goals) == 1:
            kinds.add('arms')
        if form.mechanism.loops:
            kinds.add('loops')
        if entry.kind not in kinds or (entry.is_ours and entry.form not in ('', *task.forms)):
            continue
        worker = worker_of(entry.solver)
        if not worker.trouble:
            entrants.append(Entrant(entry, worker, form, []))
    return entrants


def play(
    task: Task,
    entries: list[Entry],
    worker_of: Callable[[str], Worker],
    rounds: int,
    seconds: float,
    tick: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    """
    Run all rounds of a task and yield a row for every entry.

    The first round warms up and does not count. Who begins changes with every round. `seconds`
    is the longest time of one entry's round; a slow one does as many problems as fit into it.
    """
    entrants = enter(task, entries, worker_of)
    for entrant in entrants:
        load(entrant)
    for turn in range(rounds + 1):
        shift = turn % max(1, len(entrants))
        for entrant in entrants[shift:] + entrants[:shift]:
            tick(f'{task.name}, round {turn} of {rounds}, {entrant.entry.label}')
            if entrant.unfit or is_endless(entrant, seconds):
                continue
            take_turn(entrant, seconds if turn else 0.3 * seconds)
    for worker in {id(entrant.worker): entrant.worker for entrant in entrants}.values():
        if not worker.has_ended:
            worker.ask(do='forget')
    for entrant in entrants:
        if entrant.unfit:
            yield {'task': task.name, 'label': entrant.entry.label, 'unfit': entrant.unfit}
        else:
            yield row_of(task, entrant)


def load(entrant: Entrant) -> None:
    """Send the problems to an entry."""
    reply = entrant.worker.ask(
        do='load',
        task=entrant.form.plain(),
        tolerance=entrant.entry.tolerance,
        options=entrant.entry.options,
    )
    entrant.unfit, entrant.seat = reply.get('unfit', ''), reply.get('seat', 0)


def take_turn(entrant: Entrant, seconds: float) -> None:
    """Solve every problem once."""
    reply = entrant.worker.ask(do='pass', seat=entrant.seat, seconds=seconds)
    entrant.unfit = reply.get('unfit', '')
    entrant.replies.append(reply)


def is_endless(entrant: Entrant, seconds: float) -> bool:
    """Return True if one problem took longer than a turn; one counted round must do."""
    return len(entrant.replies) > 1 and max(entrant.replies[-1]['times']) > seconds


def judged(form: Form, reply: dict[str, Any], tolerance: float, excess: float) -> Array:
    """Return which answers are correct."""
    q = np.array(reply['q'])
    done = len(q)
    with np.errstate(invalid='ignore'):
        wrong = errors(form.mechanism, form.goals, form.targets[:done], q).max(axis=1)
        missed = driven_miss(form, q)
        outside = limit_excess(form.mechanism, q)
    # NaN compares as wrong.
    return (wrong <= tolerance) & (missed <= tolerance) & (outside <= excess)


def driven_miss(form: Form, q: Array) -> Array:
    """Return the largest error of the driven joints of every answer."""
    miss = np.abs(q[:, form.driven_columns] - form.driven_values[: len(q)])
    for at, column in enumerate(form.driven_columns):
        joint = form.mechanism.movable[column]
        if joint.kind == 'revolute' and not np.isfinite(joint.upper):
            turned = miss[:, at] % (2 * np.pi)
            miss[:, at] = np.minimum(turned, 2 * np.pi - turned)
    return miss.max(axis=1, initial=0.0)


def row_of(task: Task, entrant: Entrant) -> dict[str, Any]:
    """Summarise the rounds of an entry."""
    entry, form = entrant.entry, entrant.form
    replies = entrant.replies[1:] or entrant.replies
    done = min(len(reply['times']) for reply in replies)
    times = 1e6 * np.array([reply['times'][:done] for reply in replies])
    tight = np.array([judged(form, reply, *TIGHT)[:done] for reply in replies])
    loose = np.array([judged(form, reply, *LOOSE)[:done] for reply in replies])
    asked = tight if entry.tolerance <= TIGHT[0] else loose
    claims = np.array([[claim is True for claim in reply['claims'][:done]] for reply in replies])
    steps = [reply['iterations'][:done] for reply in replies]
    counted = all(step for pass_ in steps for step in pass_)
    row: dict[str, Any] = {
        'task': task.name,
        'about': task.about,
        'family': task.family,
        'size': task.size,
        'label': entry.label,
        'solver': entry.solver,
        'ours': entry.is_ours,
        'joints': len(form.mechanism.movable),
        'loops': len(form.mechanism.loops),
        'problems': done,
        'rounds': len(replies),
        'asked': entry.tolerance,
        'solved_1e-6': 100 * float(tight.mean()),
        'solved_1e-4': 100 * float(loose.mean()),
        'false_claims': int((claims & ~asked).sum()),
        'limit_excess': max(
            float(limit_excess(form.mechanism, np.array(reply['q'])).max(initial=0.0))
            for reply in replies
        ),
        # The machine is shared: the quietest round counts, and in the tail what a problem takes in
        # most rounds.
        'median_us': float(np.median(times, axis=1).min()),
        'p99_us': float(np.percentile(np.median(times, axis=0), 99)),
        'p99_of_calls_us': float(np.percentile(times, 99)),
        'mean_us': float(times.mean(axis=1).min()),
        'iterations': float(np.median(steps)) if counted else None,
        'step_us': float(np.median((times / steps).min(axis=0))) if counted else None,
    }
    # Share of problems solved within a time, in most rounds.
    solved = np.sort(np.median(np.where(asked, times, np.inf), axis=0))
    row['budget'] = [
        [float(time), 100 * (at + 1) / done] for at, time in thinned(solved) if np.isfinite(time)
    ]
    return row


def thinned(values: Array) -> list[tuple[int, float]]:
    """Return up to a hundred of the values with their positions, including the last."""
    step = max(1, len(values) // 100)
    places = sorted({*range(0, len(values), step), len(values) - 1})
    return [(at, float(values[at])) for at in places]

"""Answers by the thousand into a file, part by part."""

from __future__ import annotations

from collections import Counter
import csv
from pathlib import Path

from ik_node.errors import DescriptionError
from ik_node.robot import Robot
from ik_node.solver.batch.batch_solution import BatchSolution
from ik_node.solver.status import Status
import numpy as np


class AnswerTable:
    """
    A CSV file that grows: values of all joints, status, steps, and how far goals are off.

    Parameters
    ----------
    path : Path
        It is written over, unless to be gone on with.
    robot : Robot
        With its goals.
    resume : bool
        Go on after the rows that are there.

    Attributes
    ----------
    counts : Counter of str
        How often each status came out.

    Raises
    ------
    DescriptionError
        If it is to be gone on with and has other columns.

    """

    def __init__(self, path: Path, robot: Robot, *, resume: bool) -> None:
        self._path = path
        self._header = [*robot.joint_names, 'status', 'iterations']
        for name in (*robot.goals, *(['loops'] if robot.closures else [])):
            self._header += [f'{name}.position_error', f'{name}.orientation_error']
        self.counts: Counter[str] = Counter()
        if resume and path.is_file() and path.stat().st_size:
            self._go_on()
        else:
            with path.open('w', newline='', encoding='utf-8') as file:
                csv.writer(file, lineterminator='\n').writerow(self._header)

    @property
    def row_count(self) -> int:
        """How many problems are done."""
        return sum(self.counts.values())

    def add(self, batch: BatchSolution) -> None:
        """Write more of them."""
        names = [Status(status).name for status in batch.status.tolist()]
        loops = list(batch.closure_errors.values())
        errors = [column for error in batch.goal_errors.values() for column in error]
        if loops:
            errors += [np.maximum.reduce(column) for column in zip(*loops, strict=True)]
        columns = [*batch.q.T.tolist(), names, batch.iterations.tolist()]
        columns += [column.tolist() for column in errors]
        with self._path.open('a', newline='', encoding='utf-8') as file:
            csv.writer(file, lineterminator='\n').writerows(zip(*columns, strict=True))
        self.counts.update(names)

    def _go_on(self) -> None:
        """Count the rows that are there; one that was not written to its end is taken away."""
        with self._path.open('rb+') as raw:
            raw.truncate(raw.read().rfind(b'\n') + 1)
        with self._path.open(newline='', encoding='utf-8') as file:
            rows = csv.reader(file)
            if next(rows, None) != self._header:
                raise DescriptionError(
                    'cannot be gone on with: its columns are not those of this robot and these '
                    'goals; leave --resume out to write it anew',
                    source=str(self._path),
                    line=1,
                )
            at = self._header.index('status')
            self.counts.update(row[at] for row in rows)

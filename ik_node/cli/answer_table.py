"""Writer of a table of solutions, which continues a table that is not complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
import csv
import io
import os
from pathlib import Path

from ik_node.errors import DescriptionError
from ik_node.robot import Robot
from ik_node.solver.batch.batch_solution import BatchSolution, PathSolution
from ik_node.solver.status import Status
import numpy as np


def answer_header(robot: Robot, goals: Iterable[str], *, timed: bool = False) -> list[str]:
    """Return the names of the columns: time, joint values, status, iterations and residuals."""
    names = [*(['time'] if timed else []), *robot.joint_names, 'status', 'iterations']
    for name in (*goals, *(['loops'] if robot.closures else [])):
        names += [f'{name}.position_error', f'{name}.orientation_error']
    return names


def answer_rows(batch: BatchSolution, goals: Sequence[str]) -> tuple[bytes, Counter[str]]:
    """
    Return the rows of a table for the solutions of a batch, and the number of each status.

    Workers call this, because it takes a third as long as the solves of an arm. `batch`: the
    solutions; rows of a path begin with its times [s]. `goals`: names of the goals in the order of
    the columns.
    """
    names = [Status(status).name for status in batch.status.tolist()]
    goal_errors, loops = batch.goal_errors, list(batch.closure_errors.values())
    errors = [column for name in goals for column in goal_errors[name]]
    if loops:
        errors += [np.maximum.reduce(column) for column in zip(*loops, strict=True)]
    times = [batch.times] if isinstance(batch, PathSolution) else []
    columns = [*times, *batch.q.T, names, batch.iterations, *errors]
    texts = [column if column is names else map(repr, column.tolist()) for column in columns]
    text = ''.join([f'{",".join(row)}\n' for row in zip(*texts, strict=True)])
    return text.encode(), Counter(names)


class AnswerTable:
    """
    A CSV file of solutions, to which rows are appended in order.

    The rows are in a part, PATH.part, until `finish` gives it the name of the file. `path`: the
    file. `header`: names of the columns. `resume`: True to append to the rows in the part, or in
    the file, if there is one. `overwrite`: True to replace the file and the part, if they exist.
    Raise DescriptionError if the file or the part exists and is neither continued nor replaced, or
    cannot be continued because it has other columns.
    """

    def __init__(
        self, path: Path, header: Sequence[str], *, resume: bool, overwrite: bool
    ) -> None:
        self.path, self.part = path, path.with_name(f'{path.name}.part')
        text = io.StringIO()
        csv.writer(text, lineterminator='\n').writerow(header)
        self._begin = text.getvalue().encode()
        self._status = list(header).index('status')
        self.counts: Counter[str] = Counter()  # Number of problems by status.
        self.last = b''  # The last row that was in the file before; empty = none.
        # The file whose rows are continued, and its size without an incomplete last row [bytes].
        self._before: tuple[Path, int] | None = None
        there = [each for each in (self.part, path) if each.is_file() and each.stat().st_size > 0]
        if there and resume:
            self._go_on(there[0])
        elif there and not overwrite:
            raise DescriptionError(
                'the file exists: --resume continues it, if it has results of the same poses; '
                '--overwrite replaces it',
                source=str(there[0]),
            )
        else:
            self.part.write_bytes(self._begin)

    @property
    def row_count(self) -> int:
        """Return the number of problems in the file."""
        return sum(self.counts.values())

    def add(self, rows: bytes, counts: Counter[str]) -> None:
        """Append rows, as `answer_rows` returns them."""
        self._begin_part()
        with self.part.open('ab') as file:
            file.write(rows)
        self.counts.update(counts)

    def finish(self) -> None:
        """Give the complete table its name."""
        self._begin_part()
        os.replace(self.part, self.path)

    def _begin_part(self) -> None:
        """Take the rows of the file that is continued as the part, without an incomplete row."""
        if self._before is not None:
            (path, size), self._before = self._before, None
            os.replace(path, self.part)
            os.truncate(self.part, size)

    def _go_on(self, path: Path) -> None:
        """Count the complete rows in a file."""
        with path.open('rb') as file:
            if file.read(len(self._begin)) != self._begin:
                raise DescriptionError(
                    'cannot be continued: its columns are not those of this robot and these '
                    'goals; --overwrite replaces it',
                    source=str(path),
                    line=1,
                )
            size = len(self._begin)
            for line in file:
                if not line.endswith(b'\n'):
                    break
                size += len(line)
                self.counts[line.split(b',')[self._status].decode()] += 1
                self.last = line
        self._before = path, size

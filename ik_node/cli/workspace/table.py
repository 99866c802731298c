"""The points of a reach map as a table in a file."""

from __future__ import annotations

import csv
from pathlib import Path

from ik_node.cli.workspace.map import ReachMap
from ik_node.solver import Status
import numpy as np
from numpy.typing import NDArray

COLUMNS = (
    'x',
    'y',
    'z',
    'status',
    'position_error',
    'orientation_error',
    'starts',
    'conditioning',
)


def write_table(
    path: Path, found: ReachMap, measure: NDArray[np.float64], asked: str, joints: list[str]
) -> int:
    """
    Write every point that was tried.

    Parameters
    ----------
    path : Path
        Of the file.
    found : ReachMap
        What it is about.
    measure : ndarray, shape (N,)
        Conditioning; NaN where the link does not come.
    asked : str
        Axes of the position that were asked for, as in 'xyz'; the others stay empty.
    joints : list of str
        Columns for the joint values; none = without them.

    Returns
    -------
    int
        Of rows.

    """
    rows = np.flatnonzero(found.status >= 0)
    columns: list[list[object]] = [
        column.tolist() if axis in asked else [''] * len(rows)
        for axis, column in zip('xyz', found.points.points[rows].T, strict=True)
    ]
    columns.append([Status(status).name for status in found.status[rows].tolist()])
    columns += [
        column[rows].tolist()
        for column in (found.position_error, found.orientation_error, found.starts)
    ]
    columns.append([value if value == value else '' for value in measure[rows].tolist()])
    if joints:
        columns += found.q[rows].T.tolist()
    with path.open('w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow([*COLUMNS, *joints])
        writer.writerows(zip(*columns, strict=True))
    return len(rows)

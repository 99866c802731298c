"""Readers of tables of poses and of motions of key points: CSV, NumPy and BVH."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
import math
from pathlib import Path
from typing import Any, NamedTuple
import warnings
from zipfile import BadZipFile

from ik_node.errors import DescriptionError, OptionError
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

AXES = ('x', 'y', 'z')
COLUMNS = (*AXES, 'qx', 'qy', 'qz', 'qw')
ALLOWED = 'x y z, or x y z qx qy qz qw, each as LINK.x if there is more than one link'


class LinkPoses(NamedTuple):
    """The goal poses of one link, one per row."""

    # (N, 3) [m]; a map of the file if it is a .npy file with the columns in order
    positions: Array
    quats_xyzw: Array  # (N, 4)
    turned: bool  # Whether the orientation is constrained


def read_goal_table(path: Path, links: Sequence[str]) -> dict[str, LinkPoses]:
    """
    Read a table of poses, CSV or .npy.

    The first line may name the columns; otherwise there are three or seven for each of the
    `links`, which are also those of column names without one. DescriptionError is raised if the
    file cannot be read, or columns are missing or unknown.
    """
    names: list[str] = []
    if path.suffix == '.npy':
        table = _npy(path)
    else:
        names, table = read_csv(path)
    if not names:
        names = _names(path, table.shape[1], links)
    return poses_by_name(path, names, table, links)


def _npy(path: Path) -> Array:
    try:
        # A map: a file may be larger than the memory.
        table = np.load(path, mmap_mode='r', allow_pickle=False)
    except (ValueError, OverflowError, MemoryError) as error:
        raise DescriptionError(f'not an array: {error}', source=str(path)) from None
    if table.ndim != 2 or table.dtype.kind not in 'fiu':
        result = f'{table.dtype} of shape {table.shape}'
        raise DescriptionError(f'{result}, not numbers in rows', source=str(path))
    return np.asarray(table, dtype=np.float64)


def read_csv(path: Path) -> tuple[list[str], Array]:
    """
    Return the column names in the first line, if it has names, and the numbers.

    DescriptionError is raised, with the line, if a number is missing or not finite.
    """
    try:
        with path.open(encoding='utf-8-sig') as file:
            words = [word.strip() for word in file.readline().split(',')]
        names = words if any(_number(word) is None for word in words) else []
        with warnings.catch_warnings():
            warnings.simplefilter('ignore', UserWarning)  # the file may have no data
            table = np.loadtxt(
                path, delimiter=',', skiprows=1 if names else 0, ndmin=2, encoding='utf-8-sig'
            )
    except ValueError as error:
        raise _fault(path, str(error)) from None
    if not np.isfinite(table).all():
        raise _fault(path, 'not finite')
    if table.size == 0:
        table = table.reshape(-1, len(words))
    if names and len(names) != table.shape[1]:
        result = f'{len(names)} names for {table.shape[1]} columns'
        raise DescriptionError(result, source=str(path), line=1)
    return names, table


def rows_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line, counted from 1, and the words of every row of numbers in a CSV file."""
    with path.open(encoding='utf-8-sig') as file:
        for number, line in enumerate(file, start=1):
            text = line.partition('#')[0].strip()
            words = [word.strip() for word in text.split(',')]
            if text and (number > 1 or all(_number(word) is not None for word in words)):
                yield number, words


def _fault(path: Path, reason: str) -> DescriptionError:
    """Return the error for the first line that cannot be used; `reason` if none is found."""
    width = 0
    try:
        for number, words in rows_of(path):
            width = width or len(words)
            bad = [word for word in words if not math.isfinite(_number(word) or 0.0)]
            bad += [word for word in words if _number(word) is None]
            if len(words) != width:
                reason = f'{len(words)} columns, but {width} in the lines before'
            elif bad:
                reason = f'{bad[0]!r} is not a finite number'
            else:
                continue
            return DescriptionError(reason, source=str(path), line=number)
    except ValueError as error:  # not UTF-8
        reason = str(error)
    return DescriptionError(reason, source=str(path))


def _check_quaternions(path: Path, poses: dict[str, LinkPoses]) -> None:
    """Raise DescriptionError with the line or row of the first quaternion that is zero."""
    for link, result in poses.items():
        zero = np.flatnonzero(np.abs(result.quats_xyzw).max(axis=1, initial=0.0) < 1e-9)
        if zero.size:
            row, line = int(zero[0]), None
            if path.suffix != '.npz':
                line = next(islice(rows_of(path), row, None))[0]
            reason = f'the quaternion of {link!r} is zero in row {row}; expected qx qy qz qw'
            raise DescriptionError(reason, source=str(path), line=line)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _names(path: Path, width: int, links: Sequence[str]) -> list[str]:
    """Return names for the columns of a table without names."""
    for columns in (AXES, COLUMNS):
        if links and width == len(columns) * len(links):
            return [f'{link}.{column}' for link in links for column in columns]
    expected = f'{3 * len(links)} or {7 * len(links)}' if links else 'named ones, or --link'
    raise DescriptionError(f'{width} columns without names, not {expected}', source=str(path))


def poses_by_name(
    path: Path, names: Sequence[str], table: Array, links: Sequence[str] = ()
) -> dict[str, LinkPoses]:
    """
    Return the poses in the columns NAME.x and so on of a table, by the names of links or points.

    Positions are in [m]. If the columns are x y z without a name, it is the only one of `links`.
    DescriptionError is raised if columns are missing or unknown, or a quaternion of a CSV file is
    zero.
    """
    columns: dict[str, dict[str, int]] = {}
    for index, name in enumerate(names):
        link, _, column = name.rpartition('.')
        if not link and len(links) == 1:
            (link,) = links
        own = columns.setdefault(link, {})
        if not link or column not in COLUMNS or column in own:
            why = (
                'no link; use --link' if column in COLUMNS and not link else f'allowed: {ALLOWED}'
            )
            raise DescriptionError(f'column {name!r}: {why}', source=str(path), line=1)
        own[column] = index
    poses = {link: _poses(path, link, own, table) for link, own in columns.items()}
    if path.suffix != '.npy':
        _check_quaternions(path, poses)
    return poses


def _poses(path: Path, link: str, columns: dict[str, int], table: Array) -> LinkPoses:
    turned = len(columns) > len(AXES)
    missing = [name for name in (COLUMNS if turned else AXES) if name not in columns]
    if missing:
        result = f'link {link!r} has no column {" ".join(missing)}'
        raise DescriptionError(f'{result}; allowed: {ALLOWED}', source=str(path), line=1)
    positions = _columns(table, [columns[name] for name in AXES])
    quats = np.broadcast_to((0.0, 0.0, 0.0, 1.0), (len(table), 4))
    if turned:
        quats = _columns(table, [columns[name] for name in COLUMNS[3:]])
    return LinkPoses(positions, quats, turned)


def _columns(table: Array, places: list[int]) -> Array:
    """Return columns as a view if they are side by side, otherwise as a copy."""
    first = places[0]
    if places == list(range(first, first + len(places))):
        return table[:, first : first + len(places)]
    return table[:, places]


# -- motions of key points

SUFFIXES = ('.csv', '.npz', '.bvh')


@dataclass(frozen=True)
class MotionFile:
    """The key points of a motion, in the axes and units of its file."""

    path: Path
    points: dict[str, LinkPoses]  # Poses by the name of the key point, all of the same number
    times: Array | None  # Time of each frame (N,) [s]; None = not in the file

    @property
    def frame_count(self) -> int:
        """Return the number of frames."""
        return len(next(iter(self.points.values())).positions)


def read_motion(path: Path) -> MotionFile:
    """
    Read a motion.

    A CSV file has the columns time [s] and NAME.x NAME.y NAME.z of each key point, with
    orientation also NAME.qx NAME.qy NAME.qz NAME.qw. A NPZ file has an array of shape (N, 3) or
    (N, 7) with the same columns for each key point, and `times` (N,) [s]. Both may leave out the
    times. DescriptionError, with file, line or array, is raised if the file cannot be used, and
    OptionError if it has another ending or a package for its format is missing.
    """
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise OptionError('--motion', str(path), f'a file that ends in {" or ".join(SUFFIXES)}')
    if not path.is_file():
        raise DescriptionError('no such file', source=str(path))
    motion = {'.csv': _of_csv, '.npz': _of_npz, '.bvh': _of_bvh}[kind](path)
    if not motion.points or motion.frame_count == 0:
        raise DescriptionError('no key points with frames', source=str(path))
    return motion


def _of_csv(path: Path) -> MotionFile:
    names, table = read_csv(path)
    if not names:
        allowed = 'time, and NAME.x NAME.y NAME.z of each key point'
        raise DescriptionError(
            f'no names of columns; allowed: {allowed}', source=str(path), line=1
        )
    times = None
    if 'time' in names:
        column = names.index('time')
        times = table[:, column]
        late = np.flatnonzero(np.diff(times) <= 0.0)
        if late.size:
            row = int(late[0]) + 1
            line = [number for number, _ in rows_of(path)][row]
            result = f'the time {times[row]:g} comes after {times[row - 1]:g}'
            raise DescriptionError(result, source=str(path), line=line)
        names = [name for index, name in enumerate(names) if index != column]
        table = np.delete(table, column, axis=1)
    return MotionFile(path, poses_by_name(path, names, table), times)


def _of_npz(path: Path) -> MotionFile:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, BadZipFile, MemoryError) as error:
        raise DescriptionError(f'not a file of arrays: {error}', source=str(path)) from None
    given, names = arrays.pop('times', None), list[str]()
    count = len(next(iter(arrays.values()), ()))
    for name, array in arrays.items():
        width = array.shape[1] if array.ndim == 2 else 0
        fits = width in (len(AXES), len(COLUMNS)) and array.dtype.kind in 'fiu'
        if not fits or len(array) != count or not np.isfinite(array).all():
            result = f'the array {name!r} is {array.dtype} of shape {array.shape}'
            allowed = f'{count} rows of finite numbers: x y z, or x y z qx qy qz qw'
            raise DescriptionError(f'{result}; allowed: {allowed}', source=str(path))
        names += [f'{name}.{column}' for column in COLUMNS[:width]]
    table = np.hstack([*arrays.values()], dtype=np.float64) if arrays else np.zeros((0, 0))
    points, times = poses_by_name(path, names, table), None
    if given is not None and points:
        times = np.asarray(given, dtype=np.float64) if given.dtype.kind in 'fiu' else np.zeros(0)
        if times.shape != (count,) or not (np.diff(times) > 0.0).all():
            result = (
                f'the array times has shape {given.shape}; allowed: {count} increasing numbers'
            )
            raise DescriptionError(result, source=str(path))
    return MotionFile(path, points, times)


def _of_bvh(path: Path) -> MotionFile:
    from scipy.spatial.transform import Rotation

    try:
        from pybvh import read_bvh_file
    except ImportError:
        allowed = "a .csv or .npz file; .bvh needs pybvh: `pip install 'ik_node[motion]'`"
        raise OptionError('--motion', str(path), allowed) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # about the vertical axis, which the mapping states
            motion: Any = read_bvh_file(path, world_up='+y')
            positions = np.asarray(motion.node_positions(), dtype=np.float64)
    except (ValueError, KeyError, IndexError) as error:
        raise DescriptionError(f'not BVH: {error}', source=str(path)) from None
    if not np.isfinite(positions).all():
        raise DescriptionError('not BVH: numbers that are not finite', source=str(path))
    topology, angles = motion.fk_topology, motion.joint_angles
    turns: list[Rotation] = []
    points = {}
    for name, node in motion.node_index.items():
        above, joint = int(topology.parent_idx[node]), int(topology.joint_idx[node])
        # The end of a chain has no angles; it turns with its joint.
        local = Rotation.identity(len(positions))
        if joint >= 0:
            local = Rotation.from_euler(motion.euler_orders[joint], angles[:, joint])
        turns.append(turns[above] * local if above >= 0 else local)
        points[name] = LinkPoses(positions[:, node], turns[node].as_quat(), turned=True)
    return MotionFile(path, points, motion.frame_time * np.arange(len(positions)))

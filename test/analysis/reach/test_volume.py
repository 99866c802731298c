"""Queries of a stored map, and its files."""

import sys

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.errors import DescriptionError, IkError, OptionError, ShapeError
import numpy as np
import pytest

FILES = ['map.npz', 'map.h5']


def filled(quats=None, reached=None):
    """Return a map of 4 x 3 x 2 cells of 0.1 m; its joint value is the number of the cell."""
    count = 24 * (1 if quats is None else len(quats))
    there = np.arange(count) % 3 == 0 if reached is None else reached
    return ReachVolume(
        robot='rôbot',
        link='hand',
        joint_names=['a', 'b/ü'],
        cell=0.1,
        origin=np.array((1.0, 2.0, 3.0)),
        shape=(4, 3, 2),
        quats_xyzw=quats,
        roll=True,
        reached=there,
        q=np.column_stack((np.flatnonzero(there), np.flatnonzero(there) + 0.5)),
        complete=True,
    )


TURNS = np.array(((0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)))


def test_point_belongs_to_the_cell_with_the_nearest_middle():
    """One point, many points and points outside."""
    found = filled()
    cells = np.argwhere(found.reached)
    middles = found.origin + 0.1 * cells
    rng = np.random.default_rng(0)
    points = middles + rng.uniform(-0.049, 0.049, middles.shape)
    assert found.contains(points).all()
    others = found.origin + 0.1 * np.argwhere(~found.reached)
    assert not found.contains(others).any()
    assert found.contains(points.reshape(2, -1, 3)).shape == (2, len(points) // 2)
    for point, middle in zip(points.tolist(), others.tolist(), strict=False):
        assert found.contains(tuple(point)) is True
        assert found.contains(tuple(middle)) is False
        assert found.contains(np.array(point))
    for outside in ((0.94, 2.0, 3.0), (1.36, 2.0, 3.0), (1.0, 2.0, 9e99), (np.nan, 2.0, 3.0)):
        assert not found.contains(outside)
        assert not found.contains(np.array(outside))


def test_joint_values_are_those_of_the_cell():
    """None where nothing is reached."""
    found = filled()
    for row, (x, y, z) in enumerate(np.ndindex(4, 3, 2)):
        q = found.q_at((1.0 + 0.1 * x, 2.0 + 0.1 * y, 3.0 + 0.1 * z))
        assert (q is None) == bool(row % 3)
        if q is not None:
            assert q.tolist() == [row, row + 0.5]
    assert found.q_at((0.0, 0.0, 0.0)) is None


def test_capability_is_the_share_of_reached_orientations():
    """Of two orientations, both, one or none."""
    reached = np.zeros(48, dtype=bool)
    reached[[0, 24, 25]] = True
    found = filled(TURNS, reached)
    points = ((1.0, 2.0, 3.0), (1.0, 2.0, 3.1), (1.0, 2.1, 3.0))
    assert found.capability(points).tolist() == [1.0, 0.5, 0.0]
    assert found.contains(points).tolist() == [True, True, False]
    assert [found.capability(point) for point in points] == [1.0, 0.5, 0.0]
    assert found.reached.shape == (4, 3, 2, 2)
    assert found.q_at(points[1], TURNS[0]) is None
    assert found.q_at(points[1], 3.0 * TURNS[1]).tolist() == [25.0, 25.5]
    assert found.q_at(points[1]).tolist() == [25.0, 25.5]


@pytest.mark.parametrize('axis', ['x', 'y', 'z'])
def test_layer_has_the_cells_at_a_coordinate(axis):
    """In the order of the other axes; empty outside."""
    found, along = filled(), 'xyz'.index(axis)
    for layer in range(found.shape[along]):
        at = found.origin[along] + 0.1 * layer + 0.04
        wanted = np.take(found.reached, layer, axis=along)
        np.testing.assert_array_equal(found.layer(axis, at) > 0.0, wanted)
    outside = found.layer(axis, 0.0)
    assert outside.shape == wanted.shape
    assert not outside.any()


@pytest.mark.parametrize('name', FILES)
@pytest.mark.parametrize('quats', [None, TURNS], ids=['positions', 'orientations'])
def test_file_gives_the_same_map(tmp_path, name, quats):
    """Both formats, with names that are not ASCII."""
    if name.endswith('.h5'):
        pytest.importorskip('h5py')
    found = filled(quats)
    found.save(tmp_path / name)
    again = ReachVolume.load(str(tmp_path / name))
    np.testing.assert_array_equal(again.reached, found.reached)
    for point in found.origin + 0.1 * np.argwhere(found.share > 0.0):
        np.testing.assert_array_equal(again.q_at(point), found.q_at(point))
    for field in ('robot', 'link', 'joint_names', 'cell', 'shape', 'roll', 'complete'):
        assert getattr(again, field) == getattr(found, field)
    np.testing.assert_array_equal(again.origin, found.origin)
    if quats is None:
        assert again.quats_xyzw is None
    else:
        np.testing.assert_array_equal(again.quats_xyzw, quats)
    assert repr(again) == repr(found)


def test_missing_h5py_is_named_before_anything_is_written(tmp_path, monkeypatch):
    """The error says what to install, and the alternative."""
    monkeypatch.setitem(sys.modules, 'h5py', None)
    with pytest.raises(IkError, match=r"pip install 'ik_node\[hdf5\]', or use \.npz"):
        filled().save(tmp_path / 'map.h5')
    assert not [*tmp_path.iterdir()]


def changed(**arrays):
    """Return how to write a map some of whose arrays are others."""

    def write(path):
        filled().save(path)
        with np.load(path) as file:
            np.savez(path, **{**file, **arrays})

    return write


def test_file_that_is_no_map_is_refused_by_name(tmp_path):
    """The error names the file and the reason."""
    for write, text in [
        (lambda path: None, 'no such file'),
        (lambda path: path.write_text('no arrays'), 'not a .npz file'),
        (lambda path: np.savez(path, q=np.zeros(3)), 'not a map of reach'),
        (lambda path: np.savez(path, q=np.array([None])), 'not a file of arrays'),
        (changed(version=99), 'version 99'),
        (changed(q=np.zeros((2, 2))), '2 configurations for 8 cells'),
        (changed(shape=(2**40, 2**20, 9)), 'not a map of reach'),
    ]:
        path = tmp_path / 'map.npz'
        write(path)
        with pytest.raises(DescriptionError, match=text) as caught:
            ReachVolume.load(path)
        assert str(path) in str(caught.value)


def test_wrong_arguments_of_queries_are_refused(tmp_path):
    """The error says what is allowed."""
    found = filled()
    with pytest.raises(ShapeError, match=r'shape \(\.\.\., 3\)'):
        found.contains((1.0, 2.0))
    with pytest.raises(ShapeError, match='points'):
        found.contains(1.0)
    with pytest.raises(ShapeError, match=r'shape \(3,\)'):
        found.q_at(np.zeros((2, 3)))
    with pytest.raises(OptionError, match='x y z'):
        found.layer('w', 0.0)
    with pytest.raises(OptionError, match='level'):
        found.surface(1.0)
    with pytest.raises(OptionError, match=r'\.npz, \.h5 or \.hdf5'):
        found.save(tmp_path / 'map.txt')
    with pytest.raises(OptionError, match='can be written'):
        found.save(tmp_path / 'nowhere' / 'map.npz')

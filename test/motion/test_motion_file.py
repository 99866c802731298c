"""Motions of key points: every format gives the same, and errors name the place."""

from ik_node.errors import DescriptionError, OptionError
from ik_node.motion.read import read_motion
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.motions import BVH, FRAMES, key_points, RATE, written


@pytest.mark.parametrize('kind', ['.csv', '.npz', '.bvh'])
def test_every_format_gives_places_orientations_and_times(tmp_path, kind):
    """Also a BVH, whose orientations are products along the skeleton."""
    if kind == '.bvh':
        pytest.importorskip('pybvh')
    motion = read_motion(written(tmp_path, kind))
    assert motion.frame_count == FRAMES
    np.testing.assert_allclose(motion.times, np.arange(FRAMES) / RATE, atol=1e-12)
    for name, (places, turns) in key_points().items():
        point = motion.points[name]
        assert point.turned
        np.testing.assert_allclose(point.positions, places, atol=1e-9)
        apart = Rotation.from_quat(point.quats_xyzw) * turns.inv()
        assert apart.magnitude().max() < 1e-9


def test_end_site_of_bvh_is_a_key_point(tmp_path):
    """It is at its offset in the last joint and turns with it."""
    pytest.importorskip('pybvh')
    points = read_motion(written(tmp_path, '.bvh')).points
    (end,) = set(points) - {'body', 'hand'}
    place, turn = key_points()['hand']
    np.testing.assert_allclose(points[end].positions, place + turn.apply([0, 0, 5]), atol=1e-9)
    np.testing.assert_allclose(points[end].quats_xyzw, points['hand'].quats_xyzw, atol=1e-12)


def test_csv_without_time_and_orientation_is_read(tmp_path):
    """The times are then unknown, and the key point has no orientation."""
    path = tmp_path / 'plain.csv'
    path.write_text('tip.x,tip.y,tip.z\n1,2,3\n4,5,6\n')
    motion = read_motion(path)
    assert motion.times is None
    assert not motion.points['tip'].turned
    assert motion.points['tip'].positions.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_error_of_csv_names_line_and_column(tmp_path):
    """And what is allowed there."""
    for text, message in [
        ('1,2,3\n4,5,6\n', r'm\.csv:1: no names of columns; allowed: time'),
        ('time,a.x,a.y,a.z\n0,1,2,3\n0,1,2,3\n', r'm\.csv:3: the time 0 comes after 0'),
        ('time,a.x,a.y,a.z\n0,1,2,3\n\n1,1,oops,3\n', r"m\.csv:4: 'oops' is not a finite"),
        ('time,a.x,a.y\n0,1,2\n', r"m\.csv:1: link 'a' has no column z"),
        ('time,a.x,a.y,a.w\n0,1,2,3\n', r"m\.csv:1: column 'a\.w': allowed: x y z"),
        ('time\n0\n1\n', r'm\.csv: no key points'),
    ]:
        path = tmp_path / 'm.csv'
        path.write_text(text)
        with pytest.raises(DescriptionError, match=message):
            read_motion(path)


def test_error_of_npz_names_array(tmp_path):
    """And what is allowed there."""
    for arrays, message in [
        ({'a': np.zeros((4, 5))}, r"the array 'a' is float64 of shape \(4, 5\); allowed: 4 rows"),
        ({'a': np.zeros((4, 3)), 'b': np.zeros((5, 3))}, r"'b' .*; allowed: 4 rows"),
        ({'a': np.full((4, 3), np.nan)}, r"'a' .* finite"),
        ({'a': np.zeros((4, 7))}, r"quaternion of 'a' is zero in row 0"),
        ({'a': np.zeros((2, 3)), 'times': np.zeros(2)}, r'times .*; allowed: 2 increasing'),
        ({'times': np.arange(3.0)}, r'no key points'),
    ]:
        path = tmp_path / 'm.npz'
        np.savez(path, **arrays)
        with pytest.raises(DescriptionError, match=message):
            read_motion(path)


@pytest.mark.parametrize(
    ('name', 'content'),
    [('m.npz', b'no archive'), ('m.bvh', b'HIERARCHY\n'), ('m.bvh', (BVH + '0 0 x\n').encode())],
)
def test_file_of_another_format_is_refused(tmp_path, name, content):
    """The file is named."""
    if name == 'm.bvh':
        pytest.importorskip('pybvh')
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DescriptionError, match=name):
        read_motion(path)


def test_missing_file_and_unknown_ending_are_refused(tmp_path):
    """The endings that are read are named."""
    with pytest.raises(OptionError, match=r'\.csv or \.npz or \.bvh'):
        read_motion(tmp_path / 'walk.fbx')
    with pytest.raises(DescriptionError, match=r'walk\.bvh: no such file'):
        read_motion(tmp_path / 'walk.bvh')


def test_bvh_without_its_reader_names_the_package(tmp_path, monkeypatch):
    """The extra to install is in the message."""
    monkeypatch.setitem(__import__('sys').modules, 'pybvh', None)
    with pytest.raises(OptionError, match=r'ik_node\[motion\]'):
        read_motion(written(tmp_path, '.bvh'))

"""Closure annotations: what they say to the model, and what each fault is told."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
import numpy as np
import pytest
from support.robot_texts import joint, urdf

ROBOT = urdf(
    'base left right rod',
    joint('l', 'base', 'left'),
    joint('r', 'base', 'right'),
    joint('f', 'right', 'rod', kind='floating'),
    '<loop_joint name="own" type="fixed"><link1 link="left"/><link2 link="rod"/></loop_joint>',
)


def read(closures):
    """Read the robot with annotations."""
    return read_description(ROBOT, closures=closures)


def entry(**fields):
    """Read the robot with one closure of the given fields, and return it."""
    ends = {'frame_a': 'left', 'frame_b': 'right'}
    (closure,) = read({'closures': [{'name': 'c', **ends, **fields}]}).closures.values()
    return closure


def test_numpy_arrays_are_numbers():
    """A dict may hold arrays."""
    frame = {'link': 'left', 'xyz': np.array((1.0, 2.0, 3.0))}
    assert entry(frame_a=frame).offset_position.tolist() == [1, 2, 3]


def test_empty_annotations_are_allowed():
    """Empty annotations are allowed: they switch every declared loop off."""
    for empty in ('', '{}', {}, 'closures: []', 'closures:\n', '# none\n'):
        description = read(empty)
        assert description.closures == {}
        assert description.dialect == 'URDF'


END_A, END_B = 'frame_a: left', 'frame_b: right'


def test_files_and_texts_are_read(tmp_path):
    """A path is read; one that cannot be is named with the reason."""
    path = tmp_path / 'loops.yaml'
    path.write_text('closures:\n- {name: c, frame_a: left, frame_b: rod}\n')
    assert list(read(path).closures) == ['c']
    assert list(read(str(path)).closures) == ['c']
    path.write_text('closures: 3')
    with pytest.raises(DescriptionError, match=r'loops\.yaml:1: closures: expected a list'):
        read(path)
    with pytest.raises(DescriptionError, match=r'missing\.yaml: closures cannot be read: No such'):
        read('missing.yaml')
    with pytest.raises(DescriptionError, match='closures cannot be read'):
        read(3)
    with pytest.raises(DescriptionError, match='the largest YAML read is'):
        read('/dev/zero')
    path.write_bytes(b'#' * (2**20 + 1))
    with pytest.raises(DescriptionError, match='1048577 bytes; the largest YAML read is'):
        read(path)

"""Closure annotations: what they say to the model, and what each fault is told."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError
from ik_node.model.dof import DOF
from ik_node.model.rotation import quat_from_euler
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


def test_frames_are_read():
    """The closure hangs on frame_b, posed as it, and closes on frame_a with it as offset."""
    description = read("""
closures:
  - name: pin
    frame_a: {link: left, xyz: [1, 2, 3], rpy: [0.1, 0.2, 0.3]}
    frame_b: {link: right, xyz: [4, 5, 6], rpy: [0.4, 0.5, 0.6]}
    dof: X Y Z
""")
    assert list(description.closures) == ['pin']  # the loop in the text is replaced
    pin = description.closures['pin']
    assert pin.parent is description.links['right']
    assert pin.child is description.links['left']
    assert pin.position.tolist() == [4, 5, 6]
    np.testing.assert_allclose(pin.quaternion, quat_from_euler(0.4, 0.5, 0.6), atol=1e-15)
    assert pin.offset_position.tolist() == [1, 2, 3]
    np.testing.assert_allclose(pin.offset_quaternion, quat_from_euler(0.1, 0.2, 0.3), atol=1e-15)
    assert pin.dof == [DOF.X, DOF.Y, DOF.Z]
    assert pin.axes == 'goal'
    assert description.dialect == 'URDF + closures YAML'


def test_dof_and_type_select_rows():
    """Default all six; dof in any spelling; type instead; distance."""
    assert entry().dof == list(DOF)
    assert entry(dof='X, EZ').dof == [DOF.X, DOF.EZ]
    assert entry(dof=['y', 'X']).dof == [DOF.X, DOF.Y]
    assert entry(type='hinge').dof == [DOF.X, DOF.Y, DOF.Z, DOF.EX, DOF.EY]
    assert entry(type='universal').kind == 'universal'
    rod = entry(type='distance', distance=0.25)
    assert (rod.kind, rod.distance) == ('distance', 0.25)


def test_numpy_arrays_are_numbers():
    """A dict may hold arrays."""
    frame = {'link': 'left', 'xyz': np.array((1.0, 2.0, 3.0))}
    assert entry(frame_a=frame).offset_position.tolist() == [1, 2, 3]


def test_options_are_read():
    """Tolerance as one or two numbers (1e-6 is text to YAML 1.1); enabled."""
    assert entry(tolerance=0.5).tolerance == (0.5, 0.5)
    assert entry(tolerance=[0.5, 0.25]).tolerance == (0.5, 0.25)
    text = 'closures:\n- {frame_a: left, frame_b: rod, tolerance: 1e-6, enabled: false}'
    closure = read(text).closures['loop0']
    assert closure.tolerance == (1e-6, 1e-6)
    assert not closure.enabled
    assert entry().enabled
    assert entry(weight=0.5).weight == 0.5
    assert entry().weight == 1.0
    assert entry().tolerance is None


def test_couplings_and_motors_are_read():
    """A coupling is by names, with the axis where a joint has several DoF."""
    description = read(
        {
            'couplings': [
                {'joint': 'r', 'of': 'l', 'coefficients': [0.5, -1, 2]},
                {'joint': 'f.EX', 'of': 'r', 'coefficients': [0, 1]},
            ],
            'actuated': ['l', 'f'],
        }
    )
    joints = description.joints
    assert joints['r'].couplings[DOF.EZ].coefficients == (0.5, -1.0, 2.0)
    assert joints['f'].couplings[DOF.EX].master is joints['r']
    assert description.actuated == ['l', 'f']
    assert description.closures == {}


def test_a_coupling_replaces_a_mimic():
    """Annotations win over the description's mimic; that is noted."""
    text = ROBOT.replace('</joint>', '<mimic joint="r"/></joint>', 1)
    rules = {'couplings': [{'joint': 'l', 'of': 'r', 'coefficients': [0, 3]}]}
    description = read_description(text, closures=rules)
    assert description.joints['l'].couplings[DOF.EZ].coefficients == (0.0, 3.0)
    assert description.notes[-1] == "the coupling of 'l' replaces its mimic"


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
    with pytest.raises(
        DescriptionError, match='closures cannot be read: it is not a regular file'
    ):
        read('/dev/zero')
    path.write_bytes(b'#' * (2**20 + 1))
    with pytest.raises(DescriptionError, match='1048577 bytes; the largest YAML read is'):
        read(path)

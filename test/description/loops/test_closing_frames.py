"""Links that by their names close loops, as onshape-to-robot writes them."""

from ik_node.description.read import read_description
from ik_node.model.rotation import quat_to_matrix
import numpy as np
import pytest
from support.robot_texts import joint, urdf


def robot(*frames, extra=''):
    """Return two arms, a and b, and frames on them: name, link and place."""
    arms = [joint(f'j{name}', 'base', name) for name in 'ab']
    fixed = [
        joint(f'{name}_frame', link, name, f'<origin xyz="{place}" rpy="{rpy}"/>', 'fixed')
        for name, link, place, rpy in frames
    ]
    return urdf(['base', 'a', 'b', *(name for name, *_ in frames)], *arms, *fixed, extra)


PAIR = (('closing_tip_1', 'a', '1 0 0', '0 0 0'), ('closing_tip_2', 'b', '1 0 0', '0 0 0'))


def test_closing_frames_without_axis_become_a_point():
    """Without frames along an axis it is taken as a point, which is noted."""
    description = read_description(robot(*PAIR))
    found = description.closures['closing_tip']
    assert [dof.name for dof in found.dof] == ['X', 'Y', 'Z']
    assert (found.child.name, found.parent.name) == ('closing_tip_1', 'closing_tip_2')
    assert "'closing_tip': a URDF does not contain the kind of this mate" in description.notes[0]
    assert description.dialect == 'URDF + closing frames'


@pytest.mark.parametrize('tilt', ['0 0 0', '1.5707963267948966 0 0'])
def test_closing_frames_with_axis_become_a_hinge(tilt):
    """With them it is a hinge, about the line through both."""
    along = {'0 0 0': '1 0 0.1', '1.5707963267948966 0 0': '1 -0.1 0'}[tilt]
    frames = [
        (name, link, place, tilt)
        for number, link in ((1, 'a'), (2, 'b'))
        for name, place in ((f'closing_tip_{number}', '1 0 0'), (f'closing_tip_{number}_z', along))
    ]
    description = read_description(robot(*frames))
    (found,) = description.closures.values()
    assert [dof.name for dof in found.dof] == ['X', 'Y', 'Z', 'EX', 'EY']
    np.testing.assert_allclose(quat_to_matrix(found.quaternion)[:, 2], (0, 0, 1), atol=1e-12)
    assert description.notes == []


def test_loop_joint_replaces_guessed_closure():
    """Where something says more of the same two links, the guess is dropped."""
    loop = (
        '<loop_joint name="l" type="slider"><link1 link="closing_tip_2"/>'
        '<link2 link="closing_tip_1"/></loop_joint>'
    )
    assert list(read_description(robot(*PAIR, extra=loop)).closures) == ['l']


def test_sidecar_replaces_guessed_closure(tmp_path):
    """A closures file beside it takes the place of the guess."""
    (tmp_path / 'r.urdf').write_text(robot(*PAIR))
    (tmp_path / 'r.closures.yaml').write_text(
        'closures:\n  - {name: s, frame_a: closing_tip_1, frame_b: closing_tip_2, type: slider}\n'
    )
    assert list(read_description(tmp_path / 'r.urdf').closures) == ['s']


@pytest.mark.parametrize('name', ['fermeture_A', 'closedloop1_B', 'link_closed_loop'])
def test_names_that_say_too_little(name, tmp_path):
    """Gepetto's names are noted where nothing says what they close."""
    frames = ((name, 'a', '1 0 0', '0 0 0'), (name + '2', 'b', '1 0 0', '0 0 0'))
    note = f"links '{name}', '{name}2' look like ends of loops"
    assert note in read_description(robot(*frames)).notes[0]
    closures = {'closures': [{'frame_a': name, 'frame_b': name + '2'}]}
    assert read_description(robot(*frames), closures=closures).notes == []

"""Links that by their names close loops, as onshape-to-robot writes them."""

from ik_node.description.read import read_description
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


def test_sidecar_replaces_guessed_closure(tmp_path):
    """A closures file beside it takes the place of the guess."""
    (tmp_path / 'r.urdf').write_text(robot(*PAIR))
    (tmp_path / 'r.closures.yaml').write_text(
        'closures:\n  - {name: s, frame_a: closing_tip_1, frame_b: closing_tip_2, type: slider}\n'
    )
    assert list(read_description(tmp_path / 'r.urdf').closures) == ['s']

"""Frames: poses, dirty flags, the tree and its traversal."""

from ik_node.errors import ShapeError, TopologyError
from ik_node.model.frame import Frame
from ik_node.model.rotation import quat_from_euler
import numpy as np
import pytest


@pytest.fixture
def tree():
    """Return frames root, a, b (below root) and c (below a)."""
    frames = {name: Frame(name) for name in ('root', 'a', 'b', 'c')}
    frames['root'].add_child(frames['a'])
    frames['root'].add_child(frames['b'])
    frames['a'].add_child(frames['c'])
    frames['root'].update_matrix_world(True)
    return frames


@pytest.fixture
def turned():
    """Return a moved and turned parent, and its child."""
    parent, child = Frame('parent'), Frame('child')
    parent.set_position(1, 2, 3)
    parent.set_euler(0.3, -0.4, 0.5)
    parent.add_child(child)
    child.set_position(0.1, -0.2, 0.3)
    child.set_euler(-0.7, 0.2, 0.9)
    return parent, child


def test_quaternions_are_normalised():
    """For any length, however large or small."""
    for scale in (1e-140, 0.5, 3.0, 1e200):
        frame = Frame()
        frame.set_quaternion(0, 0, 0.6 * scale, 0.8 * scale)
        np.testing.assert_allclose(frame.quaternion, (0, 0, 0.6, 0.8), atol=1e-15)


def test_matrices_are_read_only_snapshots(turned):
    """A matrix that was read does not change later, and cannot be written into."""
    _, child = turned
    before = child.matrix_world
    copy = before.copy()
    child.set_position(9, 9, 9)
    assert child.matrix_world[0, 3] != copy[0, 3]
    np.testing.assert_array_equal(before, copy)
    with pytest.raises(ValueError, match='read-only'):
        before[0, 0] = 2.0


@pytest.mark.parametrize('bad', [float('nan'), float('inf')])
def test_non_finite_numbers_are_refused(bad):
    """The error names the frame, and nothing changes."""
    frame = Frame('hand')
    calls = [
        lambda: frame.set_position(0, bad, 0),
        lambda: frame.set_quaternion(bad, 0, 0, 1),
        lambda: frame.set_euler(0, 0, bad),
        lambda: frame.set_world_position(bad, 0, 0),
        lambda: frame.set_world_quaternion(bad, 0, 0, 1),
        lambda: frame.set_world_euler(bad, 0, 0),
    ]
    for call in calls:
        with pytest.raises(ShapeError, match="of 'hand': expected finite numbers"):
            call()
    np.testing.assert_array_equal(frame.matrix_world, np.eye(4))


def test_zero_quaternion_is_refused():
    """The quaternion 0 0 0 0 is no rotation."""
    with pytest.raises(ShapeError, match="quaternion of 'hand': expected a length above zero"):
        Frame('hand').set_quaternion(0, 0, 0, 0)


def test_world_setters_under_turned_parent_set_world_pose(turned):
    """For any earlier rotation of the frame."""
    _, child = turned
    child.set_world_position(-1, 0.5, 2)
    child.set_world_quaternion(*quat_from_euler(0, 0, 0.5))
    np.testing.assert_allclose(child.get_world_position(), (-1, 0.5, 2), atol=1e-15)
    wanted = quat_from_euler(0, 0, 0.5)
    np.testing.assert_allclose(child.get_world_quaternion(), wanted, atol=1e-15)
    child.set_world_euler(0.2, 0.3, -0.4)
    wanted = quat_from_euler(0.2, 0.3, -0.4)
    np.testing.assert_allclose(child.get_world_quaternion(), wanted, atol=1e-15)


def test_traverse_is_breadth_first_and_prunes(tree):
    """Returning True skips only the frames below."""
    seen = []
    tree['root'].traverse(lambda frame: seen.append(frame.name))
    assert seen == ['root', 'a', 'b', 'c']
    seen.clear()
    tree['root'].traverse(lambda frame: seen.append(frame.name) or frame.name == 'a')
    assert seen == ['root', 'a', 'b']


def test_itself_ancestor_and_child_of_other_are_refused_as_child(tree):
    """Each message names both frames."""
    with pytest.raises(TopologyError, match="'a' cannot be its own child"):
        tree['a'].add_child(tree['a'])
    with pytest.raises(TopologyError, match=r"'root' .* child of 'c': it is an ancestor"):
        tree['c'].add_child(tree['root'])
    with pytest.raises(TopologyError, match=r"'c' .* child of 'b': its parent is 'a'"):
        tree['b'].add_child(tree['c'])
    with pytest.raises(TopologyError, match="'c' is not a child of 'root'"):
        tree['root'].remove_child(tree['c'])


def test_attach_and_detach_keep_world_pose(turned):
    """A frame stays where it is in the world when it changes hands."""
    parent, child = turned
    before = child.matrix_world
    parent.detach_child(child)
    assert child.parent is None
    np.testing.assert_allclose(child.matrix_world, before, atol=1e-15)
    parent.attach_child(child)
    assert child.parent is parent
    np.testing.assert_allclose(child.matrix_world, before, atol=1e-15)


def test_update_matrix_world_updates_parents_and_on_request_children(tree):
    """Ancestors are always updated, descendants only on request."""
    tree['root'].set_position(1, 0, 0)
    tree['a'].update_matrix_world()
    stale = {name for name, frame in tree.items() if frame.matrix_world_needs_update}
    assert stale == {'b', 'c'}
    tree['root'].update_matrix_world(True)
    assert not any(frame.matrix_world_needs_update for frame in tree.values())
    assert tree['c'].matrix_world[0, 3] == 1.0


def test_chain_of_3000_frames_does_not_exceed_recursion_limit():
    """A chain of 3000 frames is moved and read without running out of stack."""
    frames = [Frame() for _ in range(3000)]
    for parent, child in zip(reversed(frames[:-1]), reversed(frames[1:]), strict=True):
        parent.add_child(child)
        child.set_position(1, 0, 0)
    frames[0].set_position(5, 0, 0)
    assert frames[-1].get_world_position()[0] == 3004.0


def test_upward_traversals_can_be_nested(tree):
    """Also if the inner one is stopped early."""
    seen = []
    tree['c'].traverse_parents(
        lambda outer: outer.traverse_parents(lambda inner: seen.append((outer.name, inner.name)))
    )
    assert seen == [('a', 'root')]
    seen.clear()
    tree['c'].traverse_parents(
        lambda outer: tree['c'].traverse_parents(
            lambda inner: seen.append((outer.name, inner.name)) or True
        )
    )
    assert seen == [('a', 'a'), ('root', 'a')]

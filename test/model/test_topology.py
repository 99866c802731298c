"""Roots of graphs that closures connect, and saving a rest pose."""

from ik_node.errors import TopologyError
from ik_node.model.constraint import Goal
from ik_node.model.frame import find_roots
from ik_node.model.joint import Joint, save_rest_pose
from ik_node.model.link import Link
import pytest


def arm(name):
    """Return root link, joint and tip link of a one-joint arm."""
    root, joint, tip = Link(f'{name}_root'), Joint(f'{name}_joint'), Link(f'{name}_tip')
    joint.set_dof('EZ')
    root.add_child(joint)
    joint.add_child(tip)
    return root, joint, tip


@pytest.fixture
def chained():
    """Return arms a, b, c; a closes on b's tip and b on c's tip."""
    arms = {name: arm(name) for name in 'abc'}
    for first, second in (('a', 'b'), ('b', 'c')):
        closure = Joint(f'{first}{second}')
        arms[first][2].add_child(closure)
        closure.make_closure(arms[second][2])
    return arms


@pytest.mark.parametrize(('start', 'order'), [('a', 'abc'), ('b', 'bac'), ('c', 'cba')])
def test_find_roots_from_any_frame_finds_all_roots(chained, start, order):
    """In the order of discovery."""
    wanted = [f'{name}_root' for name in order]
    for frame in chained[start]:
        assert [root.name for root in find_roots([frame])] == wanted
        assert [root.name for root in find_roots(frame)] == wanted


def test_find_roots_refuses_other_objects_by_name():
    """Anything else is refused by name."""
    with pytest.raises(TopologyError, match="'base' is not a frame"):
        find_roots(['base'])


def test_save_rest_pose_stores_values_of_all_joints():
    """Goals have no rest pose."""
    root, joint, tip = arm('a')
    weld, goal = Joint('weld'), Goal('hand')
    tip.add_child(weld)
    root.add_child(goal)
    joint.set_dof_value('EZ', 0.75)
    save_rest_pose(root)
    assert joint.get_rest_pose_value('EZ') == 0.75
    assert joint.rest_pose_set
    assert not weld.rest_pose_set
    assert not hasattr(goal, 'rest_pose_set')
    joint.set_dof_value('EZ', 0.5)
    assert joint.get_rest_pose_value('EZ') == 0.75

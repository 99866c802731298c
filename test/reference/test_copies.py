"""Whole graphs copied to another process and back (there: serialised for a worker)."""

from copy import deepcopy
import pickle

from ik_node.model.dof import DOF
from ik_node.model.frame import find_roots, Frame
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.solver.solver import Solver
import numpy as np
import pytest


def settled(frame, rng):
    """Give a frame a random pose and, where it has any, random values and settings."""
    frame.set_position(*rng.uniform(-1, 1, 3))
    frame.set_quaternion(*rng.normal(size=4))
    if isinstance(frame, Joint) and not isinstance(frame, Goal):
        frame.set_dof(*sorted(rng.choice(list(DOF), rng.integers(0, 7), replace=False).tolist()))
        for dof in frame.dof:
            frame.set_limits(dof, *np.sort(rng.uniform(-2, 2, 2)))
            for what in ('dof', 'target', 'rest_pose'):
                getattr(frame, f'set_{what}_value')(dof, rng.uniform(-2, 2))
            if rng.random() < 0.3:
                frame.lock(dof)
    return frame


def alone(rng):
    """Return frames without any ties."""
    return [settled(made(made.__name__), rng) for made in (Frame, Link, Joint, Goal)]


def parent_and_child(rng):
    """Return a link with a joint."""
    link, joint = settled(Link('link'), rng), settled(Joint('joint'), rng)
    link.add_child(joint)
    return [joint, link]  # the child first


def closed(rng):
    """Return a loop: two joints under one link, one closing on what the other carries."""
    base, tip = settled(Link('base'), rng), settled(Link('tip'), rng)
    left, right = settled(Joint('left'), rng), settled(Joint('right'), rng)
    base.add_child(left)
    base.add_child(right)
    left.add_child(tip)
    right.make_closure(tip)
    return [base]


def asked(rng):
    """Return a goal that closes on a link elsewhere, with settings of its own."""
    goal, link = settled(Goal('goal'), rng), settled(Link('link'), rng)
    goal.set_goal_dof('X', 'EZ')
    goal.weight, goal.priority, goal.tolerance = 0.5, 2, 1e-3
    goal.make_closure(link)
    return [goal]


def coupled(rng):
    """Return two joints, one of which follows the other."""
    base, first, second = Link('base'), Joint('first'), Joint('second')
    for joint in (first, second):
        joint.set_dof('EZ')
        base.add_child(joint)
    second.couple('EZ', first, 'EZ', (0.1, -0.5))
    return [base]


def deep(rng):
    """Return a tree that branches in three, four joints deep."""

    def grow(level):
        link = settled(Link(f'link{level}'), rng)
        for k in range(3 if level else 0):
            joint = settled(Joint(f'joint{level}{k}'), rng)
            link.add_child(joint)
            joint.add_child(grow(level - 1))
        return link

    return [grow(4)]


GRAPHS = {f.__name__: f for f in (alone, parent_and_child, closed, asked, coupled, deep)}
COPIES = {'deepcopy': deepcopy, 'pickle': lambda graph: pickle.loads(pickle.dumps(graph))}


def frames_of(graph):
    """Return all frames that hang together with those given, in order of discovery."""
    found = []
    for root in find_roots(graph):
        root.traverse(found.append)
    return found


def content(frame, places):
    """Return what a frame holds, other frames by their places."""

    def plain(value):
        if isinstance(value, Frame):
            return ('frame', places[id(value)])
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return plain(vars(value)) if hasattr(value, '__dict__') else value

    # Matrices are worked out anew when they are read; the copy's are compared below.
    own = {
        name: value
        for name, value in vars(frame).items()
        if 'matrix' not in name and name != 'revision'
    }
    return {name: plain(value) for name, value in own.items()}


@pytest.mark.parametrize('copy', COPIES)
@pytest.mark.parametrize('name', GRAPHS)
def test_a_copy_is_equal_and_its_own(name, copy):
    """Every frame comes back with equal content and ties, and no array is shared."""
    graph = GRAPHS[name](np.random.default_rng(5))
    originals, copies = frames_of(graph), frames_of(COPIES[copy](graph))
    places = [{id(f): at for at, f in enumerate(frames)} for frames in (originals, copies)]
    assert [type(f) for f in originals] == [type(f) for f in copies]
    for original, copied in zip(originals, copies, strict=True):
        assert content(original, places[0]) == content(copied, places[1])
        np.testing.assert_array_equal(original.matrix_world, copied.matrix_world)
        assert not np.shares_memory(original.position, copied.position)
    copies[0].set_position(9, 9, 9)
    assert originals[0].position[0] != 9


@pytest.mark.parametrize('copy', COPIES)
def test_a_copied_robot_is_solved_alike(copy):
    """A goal reached by the copy is reached by the same values, and the original stays."""
    base, tip, goal = Link('base'), Link('tip'), Goal('goal')
    elbow, shoulder, upper = Joint('elbow'), Joint('shoulder'), Link('upper')
    for joint in (elbow, shoulder):
        joint.set_dof('EZ')
    base.add_child(shoulder)
    shoulder.add_child(upper)
    upper.add_child(elbow)
    elbow.add_child(tip)
    elbow.set_position(1, 0, 0)
    tip.set_position(1, 0, 0)
    goal.make_closure(tip)
    goal.set_goal_dof('X', 'Y')
    goal.set_position(1, 1, 0)
    twin = Solver(COPIES[copy](base))
    twin.solve()
    assert Solver(base).q.tolist() == [0, 0]
    solver = Solver(base)
    solver.solve()
    np.testing.assert_array_equal(solver.q, twin.q)

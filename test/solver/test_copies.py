"""Copies and pickles of graphs, solvers, robots, prepared calls and answers."""

from copy import deepcopy
import pickle

from ik_node.model.dof import DOF
from ik_node.model.frame import find_roots, Frame
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.robot import load_robot
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS


def unpickled(things):
    """Return a copy made by pickling."""
    return pickle.loads(pickle.dumps(things))


@pytest.fixture(params=[deepcopy, unpickled])
def copy(request):
    """Return a copy function."""
    return request.param


def settled(frame, rng):
    """Give a frame a random pose and, if it has any, random values and settings."""
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


def closed(rng):
    """Return a loop: two joints of one link, one of which closes on the child of the other."""
    base, tip = settled(Link('base'), rng), settled(Link('tip'), rng)
    left, right = settled(Joint('left'), rng), settled(Joint('right'), rng)
    base.add_child(left)
    base.add_child(right)
    left.add_child(tip)
    right.make_closure(tip)
    return [base]


def asked(rng):
    """Return a goal for a separate link, with its own settings."""
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
    """Return a tree with three branches per link, four joints deep."""

    def grow(level):
        link = settled(Link(f'link{level}'), rng)
        for k in range(3 if level else 0):
            joint = settled(Joint(f'joint{level}{k}'), rng)
            link.add_child(joint)
            joint.add_child(grow(level - 1))
        return link

    return [grow(4)]


GRAPHS = {f.__name__: f for f in (closed, asked, coupled, deep)}


def frames_of(graph):
    """Return all frames that are connected to the given ones, in order of discovery."""
    found = []
    for root in find_roots(graph):
        root.traverse(found.append)
    return found


def content(frame, places):
    """Return the attributes of a frame, with other frames as their numbers."""

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


@pytest.mark.parametrize('name', GRAPHS)
def test_copied_graph_is_equal_and_shares_no_array(copy, name):
    """Every frame has equal attributes and references."""
    graph = GRAPHS[name](np.random.default_rng(5))
    originals, copies = frames_of(graph), frames_of(copy(graph))
    places = [{id(f): at for at, f in enumerate(frames)} for frames in (originals, copies)]
    assert [type(f) for f in originals] == [type(f) for f in copies]
    for original, copied in zip(originals, copies, strict=True):
        assert content(original, places[0]) == content(copied, places[1])
        np.testing.assert_array_equal(original.matrix_world, copied.matrix_world)
        assert not np.shares_memory(original.position, copied.position)
    copies[0].set_position(9, 9, 9)
    assert originals[0].position[0] != 9


def reached(name='arm6'):
    """Return a mechanism with reachable, unmet goals, and a solver."""
    m = MECHANISMS[name]().go_home()
    solver = m.solver()
    rng = np.random.default_rng(3)
    q = solver.solve_pose({}, m.random_q(solver.joint_names, rng, 0.1)).q
    for goal in m.goals.values():
        position, quat_xyzw = m.pose_of(goal.child.name, solver.joint_names, q)
        goal.set_position(*position)
        goal.set_quaternion(*quat_xyzw)
    return m, solver


@pytest.mark.parametrize('name', ['hexapod', 'coupled'])
def test_copied_solver_solves_for_copied_goals(copy, name):
    """It answers like the original and moves the copied joints."""
    m, solver = reached(name)
    before = solver.q
    solver.solve_pose({})
    copied_mechanism, copied = copy((m, solver))
    results = copied.solve()
    np.testing.assert_array_equal(solver.q, before)
    assert [r.goal_errors for r in results] == [r.goal_errors for r in solver.solve()]
    np.testing.assert_array_equal(copied.q, solver.q)
    assert {r.status for r in results} == {Status.CONVERGED}
    for goal in copied_mechanism.goals.values():
        goal.set_position(*(goal.position + 1e-3))
    copied.solve()
    assert (
        max(max(copied_mechanism.naive().error(goal)) for goal in copied_mechanism.goals.values())
        < 2e-6
    )


def test_robot_and_solver_copied_together_stay_connected(copy):
    """The copied solver moves the copied robot."""
    robot = load_robot('urdf/hexapod.urdf')
    solver = Solver(robot)
    copied, other = copy((robot, solver))
    link = list(robot.links)[-1]
    assert copied.to_urdf() == robot.to_urdf()
    copied.root.set_position(0.3, 0.0, 0.0)
    np.testing.assert_allclose(
        copied.forward(other.q, link)[:3, 3] - robot.forward(solver.q, link)[:3, 3],
        (0.3, 0.0, 0.0),
        atol=1e-12,
    )
    assert other.solve_pose({}).status is Status.CONVERGED


def test_copied_answer_is_equal(copy):
    """Names, reasons and numbers of a solve, a batch and its chains."""
    m, solver = reached()
    goals = {n: (goal.position, goal.quaternion + 0.0) for n, goal in m.goals.items()}
    far = {n: (position + 5.0, quat) for n, (position, quat) in goals.items()}
    for wanted in (goals, far):
        answer = solver.solve_pose(wanted)
        copied = copy(answer)
        assert (copied.message, copied.worst, copied.goal_errors) == (
            answer.message,
            answer.worst,
            answer.goal_errors,
        )
        assert copied.condition_number == answer.condition_number
        assert repr(copy(answer.chains)) == repr(answer.chains)
        many = {n: (position[None], quat[None]) for n, (position, quat) in wanted.items()}
        batch = solver.solve_batch(many)
        assert copy(batch)[0].message == batch[0].message

"""Copies and pickles of solvers, robots, prepared calls and answers stand on their own."""

from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from multiprocessing import get_context
import pickle

from ik_node.errors import IkError
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.robot import load_robot
from ik_node.solver.background.async_solver import AsyncSolver
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS


def unpickled(things):
    """Return what comes out of a pickle."""
    return pickle.loads(pickle.dumps(things))


@pytest.fixture(params=[deepcopy, unpickled])
def copy(request):
    """Return a way to copy."""
    return request.param


def reached(name='arm6'):
    """Return a mechanism whose goals are where they can be met but are not yet, and a solver."""
    m = MECHANISMS[name]().go_home()
    solver = m.solver()
    rng = np.random.default_rng(3)
    q = solver.solve_pose({}, m.random_q(solver.joint_names, rng, 0.1)).q
    for goal in m.goals.values():
        position, quat_xyzw = m.pose_of(goal.child.name, solver.joint_names, q)
        goal.set_position(*position)
        goal.set_quaternion(*quat_xyzw)
    return m, solver


@pytest.mark.parametrize('name', ['arm6', 'hexapod', 'coupled'])
def test_a_copied_solver_solves_for_its_goals(copy, name):
    """It answers as the original does, and moves joints of its own."""
    m, solver = reached(name)
    before = solver.q
    solver.solve_pose({})
    there, twin = copy((m, solver))
    results = twin.solve()
    np.testing.assert_array_equal(solver.q, before)
    assert [r.goal_errors for r in results] == [r.goal_errors for r in solver.solve()]
    np.testing.assert_array_equal(twin.q, solver.q)
    assert {r.status for r in results} == {Status.CONVERGED}
    for goal in there.goals.values():
        goal.set_position(*(goal.position + 1e-3))
    twin.solve()
    assert max(max(there.naive().error(goal)) for goal in there.goals.values()) < 2e-6


def test_a_copied_robot_takes_its_solver_along(copy):
    """Robot and solver, copied together, are tied to each other as the originals are."""
    robot = load_robot('urdf/hexapod.urdf')
    solver = Solver(robot)
    twin, other = copy((robot, solver))
    link = list(robot.links)[-1]
    assert twin.to_urdf() == robot.to_urdf()
    twin.root.set_position(0.3, 0.0, 0.0)
    np.testing.assert_allclose(
        twin.forward(other.q, link)[:3, 3] - robot.forward(solver.q, link)[:3, 3],
        (0.3, 0.0, 0.0),
        atol=1e-12,
    )
    assert other.solve_pose({}).status is Status.CONVERGED


def test_a_copied_prepared_call_is_of_the_copied_solver(copy):
    """It holds no address of the original's arrays."""
    m, solver = reached()
    call = solver.prepare(list(m.goals))
    pose = [goal.position for goal in m.goals.values()], [g.quaternion for g in m.goals.values()]
    wanted = call(*pose)
    twin = copy(call)
    m.joints['j1'].set_limits('EZ', 0.0, 0.0)
    assert twin(*pose).q.tobytes() == wanted.q.tobytes()
    assert twin(*pose).message == wanted.message


def test_a_copied_answer_says_the_same(copy):
    """With names, reasons and numbers, of one solve, a batch and its chains."""
    m, solver = reached()
    goals = {n: (goal.position, goal.quaternion + 0.0) for n, goal in m.goals.items()}
    far = {n: (position + 5.0, quat) for n, (position, quat) in goals.items()}
    for wanted in (goals, far):
        answer = solver.solve_pose(wanted)
        twin = copy(answer)
        assert (twin.message, twin.worst, twin.goal_errors) == (
            answer.message,
            answer.worst,
            answer.goal_errors,
        )
        assert twin.condition_number == answer.condition_number
        assert copy(answer.chains) == answer.chains
        many = {n: (position[None], quat[None]) for n, (position, quat) in wanted.items()}
        batch = solver.solve_batch(many)
        assert copy(batch)[0].message == batch[0].message


def test_a_chain_of_a_thousand_links_is_copied(copy):
    """Frames are reached one beside the other: no depth of recursion is used up."""
    root = last = Link('base')
    for number in range(1000):
        joint, link = Joint(f'j{number}'), Link(f'l{number}')
        joint.set_dof('EZ')
        link.set_position(0.01, 0.0, 0.0)
        last.add_child(joint)
        joint.add_child(link)
        last = link
    twin = copy(root)
    links = [each.name for each in twin.links_below()]
    assert len(links) == 1001
    assert all(each is not other for each, other in zip(links, root.links_below(), strict=True))
    far = twin.find(lambda frame: frame.name == 'l999')
    np.testing.assert_allclose(far.get_world_position(), (10.0, 0.0, 0.0), atol=1e-9)


def test_a_solver_works_in_a_spawned_process():
    """A process that begins empty gets the graph with the solver, and gives the same answer."""
    m, solver = reached()
    goals = {n: (goal.position, goal.quaternion) for n, goal in m.goals.items()}
    call, pose = solver.prepare(list(goals)), list(zip(*goals.values(), strict=True))
    wanted = solver.solve_pose(goals)
    with ProcessPoolExecutor(1, get_context('spawn')) as pool:
        for found in (pool.submit(solver.solve_pose, goals), pool.submit(call, *pose)):
            assert found.result(240.0).q.tobytes() == wanted.q.tobytes()
            assert found.result().message == wanted.message


def test_the_solver_in_the_background_is_not_copied(copy):
    """It has a thread; the error says what to do."""
    m = MECHANISMS['planar']()
    with AsyncSolver(m.roots) as solver, pytest.raises(IkError, match='make a new one'):
        copy(solver)

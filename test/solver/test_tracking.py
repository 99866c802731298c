"""Options for goals that move: no joint moves farther than its share of a cycle."""

import ik_node as ik
import numpy as np
import pytest

CYCLE = 0.02
# Robot -> link, and size of the motion [m]: reachable, through singularities, beyond the reach.
ROBOTS = {
    'arm6': ('tool_link', (0.05, 0.4, 1.5)),
    'hexapod': ('platform_link', (0.01, 0.1)),
    'palletizer': ('flange_link', (0.05, 0.5, 3.0)),
    'excavator': ('bucket_link', (0.05, 1.0)),
}


def motion(home, size, rng, count=100):
    """Return poses that begin at home: slow waves, shaking, a jump, and a pause."""
    time = np.arange(count) * CYCLE
    waves = rng.uniform(0.5, 4.0, (3, 1)) * time
    path = size * np.sin(waves).T + 0.01 * size * rng.normal(size=(count, 3))
    path[0] = 0.0
    path[count // 2 :] += size * rng.normal(size=3)
    path[-20:] = path[-20]
    poses = np.repeat(home[None], count, axis=0)
    poses[:, :3, 3] += path
    return poses


@pytest.mark.parametrize('name', ROBOTS)
def test_no_joint_moves_farther_than_its_share_of_a_cycle(name):
    """Through singularities, along limits and beyond the reach; loops stay closed."""
    link, sizes = ROBOTS[name]
    robot, rng = ik.load_robot(name), np.random.default_rng(3)
    robot.joint_order[0].max_velocity[:] = 0.2
    solver = ik.Solver(robot, ik.tracking(CYCLE, max_velocity=2.0))
    share = CYCLE * np.minimum(np.array(solver.tree.max_velocity), 2.0)
    assert share[0] <= 0.2 * CYCLE
    binding = 0
    for size in sizes * 2:
        q = robot.q
        for pose in motion(robot.forward(q, link), size, rng):
            answer = solver.solve_pose({link: pose}, q0=q)
            moved = np.abs(answer.q - q)
            assert (moved <= share * (1.0 + 1e-12)).all()
            assert (answer.q >= robot.lower).all()
            assert (answer.q <= robot.upper).all()
            assert all(max(e) <= 1e-6 for e in answer.closure_errors.values())
            binding += (moved >= 0.999 * share).any()
            q = answer.q
    assert binding > 20


def test_a_slow_goal_is_reached_and_joints_drift_to_the_rest_pose():
    """The redundant joint moves in the null space of a position."""
    robot = ik.load_robot('arm6')
    goal = robot.add_goal('tool_link', dof='X Y Z')
    home, q = robot.forward(robot.q, 'tool_link')[:3, 3], robot.q
    ik.save_rest_pose(robot.root)
    solver = ik.Solver(robot, ik.tracking(CYCLE))
    q[3:] += 0.3
    before = np.abs(q - robot.q).max()
    for cycle in range(150):
        wanted = home + np.array((0.0, 0.0005 * min(cycle, 50), 0.0))
        answer = solver.solve_pose({goal.name: wanted}, q0=q)
        q = answer.q
    assert answer.converged
    assert np.abs(q - robot.q).max() < 0.5 * before


def test_a_joint_3_degrees_outside_its_limit_does_not_jump():
    """The goal is the pose that the arm has: nothing moves more than 0.01 rad, in 300 cases."""
    robot, rng = ik.load_robot('arm6'), np.random.default_rng(5)
    solver = ik.Solver(robot, ik.tracking(1.0, max_velocity=100.0))
    lower, upper = np.maximum(robot.lower, -3.0), np.minimum(robot.upper, 3.0)
    for (joint, dof), low, high in zip(solver.tree.owner, lower, upper, strict=True):
        joint.set_limits(dof, low, high)
    for case in range(300):
        q = rng.uniform(robot.lower, robot.upper)
        joint = case % q.size
        q[joint] = robot.upper[joint] + np.deg2rad(3.0)
        answer = solver.solve_pose({'tool_link': robot.forward(q, 'tool_link')}, q0=q)
        assert np.abs(answer.q - q).max() <= 0.01

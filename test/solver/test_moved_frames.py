"""Every call uses the present pose of every frame."""

from ik_node.solver.status import Status
import numpy as np
from scipy.spatial.transform import Rotation
from support.mechanisms import MECHANISMS

SHIFT = np.array((0.3, -0.2, 0.05))
TURN = Rotation.from_euler('xyz', (0.1, -0.2, 0.3)).as_quat()


def move(frame):
    """Change the pose of a frame in its parent."""
    frame.set_position(*(frame.position + SHIFT))
    turned = Rotation.from_quat(TURN) * Rotation.from_quat(frame.quaternion)
    frame.set_quaternion(*turned.as_quat())


MOVED = {
    'the base of an arm': ('arm6', lambda m: m.roots[0]),
    'a joint of an arm': ('arm6', lambda m: m.joints['j3']),
    'a link of an arm': ('arm6', lambda m: m.links['j3_link']),
    'the base of a loop': ('fivebar', lambda m: m.roots[0]),
    'the base of a hexapod': ('hexapod', lambda m: m.roots[0]),
}


def ways_to_solve(solver, m):
    """Return calls that solve for all goals at their poses; each returns q and its status."""
    names = list(m.goals)
    call = solver.prepare(names)

    def poses():
        return {n: (goal.position.copy(), goal.quaternion.copy()) for n, goal in m.goals.items()}

    def prepared():
        given = list(poses().values())
        answer = call([p for p, _ in given], [r for _, r in given])
        return answer.q, answer.status

    def solve():
        results = solver.solve()
        return solver.q, max(result.status for result in results)

    def solve_pose():
        answer = solver.solve_pose(poses())
        return answer.q, answer.status

    def batch():
        goals = {name: (p[None], r[None]) for name, (p, r) in poses().items()}
        answer = solver.solve_batch(goals)
        return answer.q[0], Status(answer.status[0])

    return {'prepared': prepared, 'solve_pose': solve_pose, 'solve_batch': batch, 'solve': solve}


def test_next_call_uses_moved_frame():
    """CONVERGED answers meet goals and closures with the new pose."""
    for moved, way in [
        ('the base of an arm', 'solve'),
        ('a joint of an arm', 'prepared'),
        ('a link of an arm', 'solve_pose'),
        ('the base of a loop', 'solve_batch'),
        ('the base of a loop', 'prepared'),
        ('the base of a hexapod', 'solve'),
    ]:
        name, which = MOVED[moved]
        m = MECHANISMS[name]().go_home()
        solver = m.solver()
        ways = ways_to_solve(solver, m)
        for goal in m.goals.values():
            position, quat_xyzw = m.pose_of(goal.child.name)
            goal.set_position(*position)
            goal.set_quaternion(*quat_xyzw)
        assert ways[way]()[1] is Status.CONVERGED
        move(which(m))
        before = m.naive(solver.joint_names, solver.q, follow=True)
        assert max(max(before.error(joint)) for joint in before.closers.values()) > 1e-3
        q, status = ways[way]()
        there = m.naive(solver.joint_names, q, follow=True)
        errors = {n: max(there.error(joint)) for n, joint in there.closers.items()}
        assert status is not Status.CONVERGED or max(errors.values()) < 2e-6, errors

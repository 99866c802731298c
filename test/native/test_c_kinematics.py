"""Forward kinematics and Jacobians of the C interface."""

from ik_node.export import export_robot
from ik_node.model.kinematics import TreePoses
from ik_node.model.link import Link
import numpy as np
from scipy.spatial.transform import Rotation
from support.c_programs import CRobot, JOINTS, LINKS
from support.mechanisms import MECHANISMS

CLOSE = 1e-12


def matrices(poses):
    """Return poses (n, 7) as (n, 4, 4)."""
    made = np.tile(np.eye(4), (len(poses), 1, 1))
    made[:, :3, :3] = Rotation.from_quat(poses[:, 3:]).as_matrix()
    made[:, :3, 3] = poses[:, :3]
    return made


def test_kinematics_of_mechanism_equal_those_of_the_tree():
    """Poses and Jacobians of all links, at values that break closures and couplings."""
    for name in MECHANISMS:
        solver = MECHANISMS[name]().solver()
        frames = [frame for frame in solver.tree.carrier if isinstance(frame, Link)]
        expected = TreePoses(solver.tree)
        robot = CRobot(export_robot(solver, ()))
        assert robot.names(JOINTS) == solver.joint_names
        assert robot.names(LINKS) == [frame.name for frame in frames]
        for q in np.random.default_rng(2).uniform(-3.0, 3.0, (3, len(solver.joint_names))):
            poses = robot.forward(q)
            np.testing.assert_allclose(np.linalg.norm(poses[:, 3:], axis=1), 1.0, atol=CLOSE)
            assert (poses[:, 6] >= 0.0).all()
            for at, frame in enumerate(frames):
                np.testing.assert_allclose(
                    matrices(poses)[at], expected.pose(q, frame), rtol=0, atol=CLOSE
                )
                np.testing.assert_allclose(
                    robot.jacobian(q, at), expected.jacobian(q, frame), rtol=0, atol=CLOSE
                )


def test_kinematics_do_not_disturb_a_solve_under_way():
    """Between two slices a program may ask for poses."""
    m = MECHANISMS['hexapod']()
    solver = m.solver()
    one, other = (CRobot(export_robot(solver, list(m.goals))) for _ in range(2))
    pose = [(np.array(g.position) + 0.02, g.quaternion) for g in m.goals.values()]
    one.solve(None, pose, 1)
    one.forward(one.q + 0.3)
    one.jacobian(one.q + 0.3, 3)
    assert one.go_on() == other.solve(None, pose)
    assert one.q.tobytes() == other.q.tobytes()

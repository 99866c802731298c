"""Faults of the reference library's worker and URDF functions that ik_node does not have."""

from concurrent.futures import wait

import ik_node as ik
from ik_node.model.joint import Joint
from ik_node.solver.background.async_solver import AsyncSolver
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism
from support.waiting import PATIENCE

ENDLESS = SolverOptions(
    max_iterations=10**6, restarts=10**6, agreeing_starts=10**6, stall_threshold=0.0
)
URDF = '<robot name="r"><link name="a"/></robot>'


def arm(x=9.0):
    """Return a planar arm of three hinges with an unreachable goal."""
    m = Mechanism('arm')
    m.root('base')
    parent = 'base'
    for k in range(3):
        m.joint(f'j{k}', parent, 'EZ', (1.0 if k else 0.0, 0, 0), limits=(-2.5, 2.5))
        parent = f'j{k}_link'
    m.tip('end', parent, (1, 0, 0))
    m.goal('goal', 'end', 'X Y').set_position(x, 0.5, 0)
    return m


def test_stop_ends_running_solve():
    """The worker of the reference library ignores the message."""
    with AsyncSolver(arm().roots, ENDLESS) as solver:
        future = solver.solve()
        solver.stop()
        (result,) = future.result(timeout=PATIENCE)
        assert result.status in (Status.TIMEOUT, Status.STALLED)
        assert not solver.running


def test_running_is_true_until_solve_ends():
    """In the reference library the first report and stop clear the flag."""
    with AsyncSolver(arm().roots, ENDLESS) as solver:
        assert not solver.running
        future = solver.solve()
        assert not wait([future], timeout=0.05).done
        assert solver.running
        solver.stop()
        future.result(timeout=PATIENCE)
        assert not solver.running


def test_dispose_ends_thread_and_refuses_commands():
    """The reference library throws because its worker is null."""
    solver = AsyncSolver(arm().roots, ENDLESS)
    future = solver.solve()
    solver.dispose()
    assert future.cancelled()
    with pytest.raises(ik.IkError, match='dispose'):
        solver.solve()


def test_changed_settings_reach_running_solver():
    """In the reference library tolerances and wrap never reach the worker."""
    m = arm(x=1.5)
    m.goals['goal'].tolerance = 10.0
    with AsyncSolver(m.roots, SolverOptions(restarts=0)) as solver:
        first = solver.solve().result(timeout=PATIENCE)
        assert first[0].goal_errors['goal'].position > 1.0
        m.goals['goal'].tolerance = None
        second = solver.solve().result(timeout=PATIENCE)
    assert second[0].goal_errors['goal'].position <= 1e-6


@pytest.mark.parametrize('turn', [(0.3, -0.4, 0.5), (0, 0, 3.0), (2.0, 0.1, -1.0)])
def test_root_rotation_is_applied(turn):
    """In the reference library it cancels itself."""
    root = ik.robot_to_ik_root(ik.load_robot(URDF))
    quat = Rotation.from_euler('xyz', turn).as_quat()
    ik.set_ik_from_urdf(root, {'root': ((1, 2, 3), quat)})
    there = Rotation.from_euler('xyz', turn).as_matrix()
    np.testing.assert_allclose(root.matrix_world[:3, :3], there, atol=1e-14)
    assert isinstance(root, Joint)
    assert root.get_dof_position().tolist() == [1, 2, 3]
    values = {}
    ik.set_urdf_from_ik(values, root)
    back = Rotation.from_quat(values['root'][1]).as_matrix()
    np.testing.assert_allclose(back, there, atol=1e-14)


def test_planar_and_mimic_joints_are_read():
    """In the reference library a planar joint with a child throws, and mimic is ignored."""
    robot = ik.load_robot(
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>'
        '<joint name="p" type="planar"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '</joint><joint name="h" type="continuous"><parent link="b"/><child link="c"/>'
        '<axis xyz="0 0 1"/></joint><joint name="m" type="continuous"><parent link="c"/>'
        '<child link="d"/><axis xyz="0 0 1"/><mimic joint="h" multiplier="2" offset="0.1"/>'
        '</joint></robot>'
    )
    root = ik.robot_to_ik_root(robot)
    ik.set_ik_from_urdf(root, {'p': (0.1, 0.2, 0.3), 'h': 0.5})
    values = {'p': None}
    ik.set_urdf_from_ik(values, root)
    assert values['p'].tolist() == [0.1, 0.2, 0.3]
    assert values['m'] == pytest.approx(1.1)

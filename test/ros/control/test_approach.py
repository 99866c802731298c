"""Steps from one configuration to another: bounded, with closed loops, or none."""

from types import SimpleNamespace as Data

from ik_node.errors import TopologyError
from ik_node.ros.control import tracker
from ik_node.ros.control.tracker import approach
from ik_node.solver import SolverOptions
import numpy as np
import pytest

OPTIONS = SolverOptions(restarts=0)


@pytest.fixture
def fivebar(moving):
    return moving('fivebar')


def driven(robot, **values):
    return robot.model.solver.drive(values, robot.model.q_start).q


@pytest.mark.parametrize('joints', [(0.5, 0.2), (-0.3, 0.3), (0.4, -0.4), (-0.2, -0.5)])
def test_steps_keep_window_and_loops_and_arrive(fivebar, joints):
    """Each step keeps the window and the loop, and the last step ends at the target."""
    model = fivebar.model
    wanted = driven(fivebar, left_shoulder=joints[0], right_shoulder=joints[1])
    window = np.full(4, 0.02)
    q, steps = model.q_start, 0
    while q is not wanted:
        after, reason = approach(model, q, wanted, window, OPTIONS)
        assert reason == ''
        assert (np.abs(after - q) <= window * (1 + 1e-9)).all()
        fivebar.watched.check_q(after)
        q, steps = after, steps + 1
        assert steps < 200
    # No step is wasted: at each one the slowest joint goes nearly as far as it may.
    assert steps <= 1.3 * np.max(np.abs(wanted - model.q_start)) / 0.02 + 2


def test_target_within_the_window_is_reached_at_once(fivebar):
    wanted = driven(fivebar, left_shoulder=0.5)
    assert approach(fivebar.model, fivebar.model.q_start, wanted, np.full(4, np.inf), OPTIONS) == (
        wanted,
        '',
    )


def test_joint_with_zero_velocity_limit_is_named(fivebar):
    q, wanted = fivebar.model.q_start, driven(fivebar, left_shoulder=0.5)
    window = np.array([0.02, 0.0, 0.02, 0.02])
    after, reason = approach(fivebar.model, q, wanted, window, OPTIONS)
    assert after is q
    assert 'joint left_elbow cannot move' in reason


def test_other_assembly_branch_is_not_reached(fivebar):
    """Towards the mirrored elbows the loop blocks the path; the robot stays and reports it."""
    q = fivebar.model.q_start
    # The mirror image of the right arm's elbow: not closed, as far as this loop goes.
    wanted = q + np.array([0.0, 0.0, 0.0, 0.5])
    for _ in range(100):
        after, reason = approach(fivebar.model, q, wanted, np.full(4, 0.02), OPTIONS)
        fivebar.watched.check_q(after)
        if reason:
            break
        q = after
    assert 'the loops block the straight path' in reason
    assert after is q


def test_solver_error_becomes_the_reason(fivebar, monkeypatch):
    def arrays_for(names):
        raise TopologyError('no such way')

    monkeypatch.setattr(fivebar.model.solver, 'arrays_for', arrays_for)
    q, wanted = fivebar.model.q_start, np.full(4, 0.1)
    assert approach(fivebar.model, q, wanted, np.full(4, 0.02), OPTIONS) == (q, 'no such way')


def test_step_with_open_loops_is_rejected(fivebar, monkeypatch):
    model = fivebar.model
    q, wanted = model.q_start, driven(fivebar, left_shoulder=0.5)
    pin = {'pin': Data(position=0.1, orientation=0.0)}
    monkeypatch.setattr(tracker, 'step_towards', lambda *_: Data(q=q + 0.01, closure_errors=pin))
    after, reason = approach(model, q, wanted, np.full(4, 0.02), OPTIONS)
    assert after is q
    assert 'loop pin is open by 0.1 m' in reason


def test_robot_without_loops_moves_straight(moving):
    robot = moving(ARM)
    q, wanted = np.zeros(2), np.array([0.4, -0.1])
    for step in range(1, 5):
        q, reason = approach(robot.model, q, wanted, np.full(2, 0.1), OPTIONS)
        assert reason == ''
        assert q == pytest.approx(wanted * step / 4, abs=1e-6)
    assert q is wanted or q == pytest.approx(wanted, abs=1e-6)


ARM = """<robot name="arm"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="one" type="revolute"><parent link="a"/><child link="b"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="two" type="revolute"><parent link="b"/><child link="c"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint></robot>"""

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

"""Who moves the robot, and what parameters about joints do while it moves."""

from ik_node.ros.control.tracker import approach
import numpy as np
import pytest


@pytest.fixture
def fivebar(moving):
    return moving(
        'fivebar', goal_names=('tool',), goals__tool__link='tool_link', goals__tool__dof='X Y'
    )


def test_joint_targets_and_locks_survive_a_new_model(fivebar, moving):
    """Other goals build a new model, whose joints get the same targets and locks."""
    fivebar.motion.save_rest_pose(fivebar.tracker)
    fivebar.configure(joint_targets='{left_shoulder: 0.2}', locked_joints=('right_shoulder',))
    model = moving('fivebar').model
    fivebar.motion.take_model(model, fivebar.settings)
    joints = model.robot.joints
    assert joints['left_shoulder'].target_set
    assert joints['left_elbow'].rest_pose_set
    assert [name for name, joint in joints.items() if joint.locked.any()] == ['right_shoulder']


def test_saved_rest_pose_is_dropped_for_another_robot(fivebar, moving):
    """A saved rest pose belongs to one robot, even if another has the same joint names."""
    fivebar.motion.save_rest_pose(fivebar.tracker)
    fivebar.motion.take_model(moving('hexapod').model, fivebar.settings)
    again = moving('fivebar').model
    fivebar.motion.take_model(again, fivebar.settings)
    assert not any(joint.rest_pose_set for joint in again.robot.joint_order)


def test_measured_jump_becomes_a_motion(fivebar):
    """With max_joint_velocity even a sensor does not make the joint states jump."""
    fivebar.configure(state_source='measured', max_joint_velocity=1.0)
    fivebar.measure(left_shoulder=0.0, right_shoulder=0.0)
    before = fivebar.tick()[0].q
    q = fivebar.model.solver.drive({'left_shoulder': 0.5}, before).q
    fivebar.measure(**dict(zip(fivebar.model.joint_names, q.tolist(), strict=True)))
    window = fivebar.model.max_velocity * 0.01
    report, _ = fivebar.tick()
    assert report.under_way
    while not report.converged:
        assert (np.abs(report.q - before) <= window * (1 + 1e-6)).all()
        fivebar.watched.check_q(report.q)
        before = report.q
        report, _ = fivebar.tick()
    assert report.q == pytest.approx(q, abs=1e-6)


def test_other_assembly_branch_is_not_reached(fivebar):
    """Towards the mirrored elbows the loop blocks the path; the robot stays and reports it."""
    model, q = fivebar.model, fivebar.model.q_start
    # The mirror image of the right arm's elbow: not closed, as far as this loop goes.
    wanted = q + np.array([0.0, 0.0, 0.0, 0.5])
    for _ in range(100):
        after, reason = approach(model, q, wanted, np.full(4, 0.02), fivebar.settings.options)
        fivebar.watched.check_q(after)
        if reason:
            break
        q = after
    assert 'the loops block the straight path' in reason
    assert after is q

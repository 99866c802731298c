"""Writes to attributes of frames count from the next solve on, or raise an error."""

import copy
import pickle

from ik_node.errors import IkError, OptionError, ShapeError
from ik_node.model.constraint import Closure, Goal
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.solver import SolverOptions
import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.mechanisms import MECHANISMS

QUARTER = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))


def write(get, at, value):
    """Let a ufunc write, which no assignment of an element reports."""
    np.add(value, 0.0, out=get()[at : at + 1], casting='unsafe')


@pytest.mark.parametrize('keeps', [False, True])
def test_written_limit_binds_every_call(keeps):
    """Limits count for solves, prepared calls, batches and paths, also in a kept array."""
    m = MECHANISMS['arm6']()
    # A value that starts outside its limits would be allowed to stay there.
    solver = m.solver(SolverOptions(start_outside='clamp'))
    name = next(iter(m.goals))
    at = solver.joint_names.index('j3')
    q = solver.q
    q[at] = -0.9
    solver.q = q
    link = m.goals[name].child
    pose = link.get_world_position(), link.get_world_quaternion()
    call = solver.prepare([name])
    assert call(*pose).converged
    kept = m.joints['j3'].min_dof_limit if keeps else None
    assert call(*pose)['j3'] == pytest.approx(-0.9, abs=0.3)
    write(
        lambda: m.joints['j3'].min_dof_limit if kept is None else kept, m.joints['j3'].dof[0], 0.2
    )
    for found in (
        call(*pose).q,
        solver.solve_pose({name: pose}).q,
        solver.solve_batch({name: ([pose[0]], [pose[1]])}).q[0],
        solver.solve_path({name: ([pose[0]], [pose[1]])}).q[0],
    ):
        assert found[at] >= 0.2
    assert solver.limits()[0][at] == 0.2
    solver.solve()
    assert solver.q[at] >= 0.2


def test_written_lock_and_flags_count():
    """A locked axis stays, and a joint whose target is switched off is free again."""
    m = MECHANISMS['arm6']()
    solver = m.solver()
    name = next(iter(m.goals))
    joint, at = m.joints['j1'], solver.joint_names.index('j1')
    call = solver.prepare([name])
    pose = (0.3, 0.3, 0.4), (0.0, 0.0, 0.0, 1.0)
    before = solver.q[at]
    assert call(*pose).q[at] != before
    write(lambda: joint.locked, joint.dof[0], True)
    assert call(*pose).q[at] == before
    write(lambda: joint.locked, joint.dof[0], False)
    assert call(*pose).q[at] != before
    joint.set_target_values(0.3)
    assert solver.has_preferences
    joint.target_set = False
    assert not solver.has_preferences
    joint.rest_pose_set = True
    assert solver.has_preferences


def test_written_values_and_poses_move_frames():
    """Poses of frames follow at once, with a quaternion that is normalised."""
    m = MECHANISMS['arm6']()
    solver = m.solver()
    joint = m.joints['j2']
    write(lambda: joint.dof_values, joint.dof[0], 0.25)
    assert solver.q[solver.joint_names.index('j2')] == 0.25
    twin = MECHANISMS['arm6']()
    twin.joints['j2'].set_dof_values(0.25)
    tip = next(iter(m.goals.values())).child.name
    assert_allclose(m.links[tip].matrix_world, twin.links[tip].matrix_world, atol=1e-12)
    first = solver.roots[0]
    write(lambda: first.position, 0, 0.7)
    twin.solver().roots[0].set_position(0.7, *first.position[1:])
    assert_allclose(m.links[tip].matrix_world, twin.links[tip].matrix_world, atol=1e-12)
    write(lambda: first.quaternion, 2, 1.0)
    assert_allclose(first.get_world_quaternion(), QUARTER, atol=1e-12)


def test_reading_leaves_no_trace():
    """Nothing is read again because somebody looked."""
    m = MECHANISMS['arm6']()
    solver = m.solver()
    edits, graph = solver.revision.edits, solver.revision.graph
    kept = [joint.dof_values for joint in m.joints.values()]
    for joint in m.joints.values():
        float(joint.min_dof_limit[5]) + float(joint.position[0])
    assert (solver.revision.edits, solver.revision.graph) == (edits, graph)
    del kept
    assert not solver.revision.lent


@pytest.mark.parametrize(
    ('name', 'value', 'message'),
    [
        ('min_dof_limit', 9.0, r"limits of 'j2': \(9.0, .* lower <= upper"),
        ('max_dof_limit', np.nan, "limits of 'j2'"),
        ('dof_target', np.inf, "target and rest pose of 'j2'"),
        ('dof_rest_pose', np.nan, "target and rest pose of 'j2'"),
    ],
)
def test_written_numbers_that_cannot_be_used_are_refused(name, value, message):
    """The next solve names the joint."""
    m = MECHANISMS['arm6']()
    solver, joint = m.solver(), m.joints['j2']
    before = getattr(joint, name)[joint.dof[0]]
    getattr(joint, name)[joint.dof[0]] = value
    with pytest.raises(OptionError, match=message):
        solver.solve()
    getattr(joint, name)[joint.dof[0]] = before
    solver.solve()


def test_assigned_array_is_copied_and_checked():
    """A list will do, another shape will not."""
    joint = Joint('knee')
    joint.set_dof('EZ')
    joint.max_velocity = [1, 2, 3, 4, 5, 6]
    assert joint.max_velocity.tolist() == [1, 2, 3, 4, 5, 6]
    joint.locked = [0, 0, 0, 0, 0, 1]
    assert joint.locked.tolist() == [False] * 5 + [True]
    joint.dof_values += (0, 0, 0, 0, 0, 0.5)
    assert joint.matrix_dof[0, 0] == pytest.approx(np.cos(0.5))
    with pytest.raises(ShapeError, match=r"min_dof_limit of 'knee': expected shape \(6,\)"):
        joint.min_dof_limit = [1, 2]


BASE, KNEE, GOAL, PIN = Link('base'), Joint('knee'), Goal('hand'), Closure('pin')
KNEE.set_dof('EZ')


def test_attribute_of_the_graph_names_the_method_that_changes_it():
    """An error, because these attributes belong together."""
    for change, method in [
        (lambda: setattr(BASE, 'parent', KNEE), 'add_child'),
        (lambda: BASE.children.append(KNEE), 'add_child'),
        (lambda: BASE.closure_joints.clear(), 'make_closure'),
        (lambda: setattr(PIN, 'is_closure', True), 'make_closure'),
        (lambda: KNEE.dof.append(DOF.X), 'set_dof'),
        (lambda: KNEE.couplings.update({DOF.EZ: 1}), 'couple'),
        (lambda: KNEE.couplings.pop(DOF.EZ, None), 'uncouple'),
    ]:
        with pytest.raises(IkError, match=method):
            change()


def test_copies_have_arrays_and_lists_of_their_own():
    """Also a copy that is made while somebody holds an array."""
    m = MECHANISMS['arm6']()
    solver = m.solver()
    kept = m.joints['j2'].dof_values
    for twin in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
        joint = next(joint for joint, _ in twin.tree.owner if joint.name == 'j2')
        joint.dof_values[joint.dof[0]] = 0.125
        assert twin.q[twin.joint_names.index('j2')] == 0.125
        with pytest.raises(OptionError, match='set_dof'):
            joint.dof.append(DOF.X)
    assert 0.125 not in kept

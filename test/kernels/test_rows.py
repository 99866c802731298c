"""Forward kinematics and residual rows of the kernels agree with the oracle and the objects."""

from ik_node.model.constraint import Closure
from ik_node.model.dof import DOF
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism
from support.kernel_calls import Rows
from support.mechanisms import AXES, held, MECHANISMS, TURNS


def check(mechanism, seed, count=3):
    """Compare rows at random configurations with the oracle and the objects."""
    rows, rng = Rows(mechanism), np.random.default_rng(seed)
    for _ in range(count):
        q = mechanism.random_q(rows.names, rng)
        found, _ = rows.at(q)
        there = mechanism.naive(rows.names, q, follow=True)
        for joint, values in there.values.items():
            joint.dof_values[:] = values
            joint.set_matrix_dof_needs_update()
        assert set(found) == set(there.closers)
        for name, closer in there.closers.items():
            wanted = np.concatenate(there.residual(closer))
            np.testing.assert_allclose(found[name], wanted, atol=1e-12, err_msg=name)
            if hasattr(closer, 'get_residual'):
                np.testing.assert_allclose(closer.get_residual(), wanted, atol=1e-12)


def test_rows_of_every_mechanism_equal_oracle():
    """At random configurations, far from closed."""
    for name in MECHANISMS:
        check(MECHANISMS[name](), seed=sum(map(ord, name)))


def test_rows_of_every_axis_subset_equal_oracle():
    """One to three rotational axes, some translations, absolute and relative."""
    for axes in AXES:
        for parent in ['left', None]:
            for turns in TURNS:
                moves = {1: ('X', 'Z'), 2: ('Y',), 3: ('X', 'Y', 'Z')}[len(turns)]
                check(held(axes, (*moves, *turns), parent=parent), seed=len(axes))


def test_residual_at_half_a_turn_has_length_pi():
    """Every number is finite."""
    for axes in AXES:
        for turns in [('EX', 'EZ'), ('EX', 'EY', 'EZ')]:
            m = Mechanism('hinge')
            m.root('base')
            m.joint('hinge', 'base', turns[0])
            goal = m.goal('goal', 'hinge_link', ' '.join(turns), axes)
            rows = Rows(m)
            found, jacobian = rows.at([np.pi])
            assert np.isfinite(jacobian['goal']).all()
            assert np.linalg.norm(found['goal']) == pytest.approx(np.pi, abs=1e-12)
            half = np.zeros(3)
            half[DOF[turns[0]] - 3] = np.pi
            goal.set_quaternion(*Rotation.from_rotvec(half).as_quat())
            rows = Rows(m)
            found, _ = rows.at([np.pi])
            np.testing.assert_allclose(found['goal'], 0.0, atol=1e-12)


def test_distance_row_of_coinciding_frames_is_finite():
    """The distance has no direction there."""
    m = Mechanism('one_place')
    m.root('base')
    m.joint('slide', 'base', 'X Y')
    rod = Closure('rod', 'distance')
    rod.distance = 0.2
    m.links['base'].add_child(rod)
    rod.make_closure(m.links['slide_link'])
    found, jacobian = Rows(m).at([0.0, 0.0])
    assert found['rod'].tolist() == [-0.2]
    np.testing.assert_allclose(np.linalg.norm(jacobian['rod']), 1.0)

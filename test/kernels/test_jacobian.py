"""Jacobians agree with central differences of the oracle's residual."""

from ik_node.model.dof import DOF
from ik_node.model.user_goal import UserGoal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism
from support.kernel_calls import Rows
from support.mechanisms import AXES, held, MECHANISMS, TURNS
from support.naive import inverse_left_jacobian

STEP = 1e-5
BALL = ['EX', 'EY', 'EZ']


def turns_freely(mechanism, joint):
    """Return True for a ball joint without limits and couplings, whose columns are turns."""
    driving = {
        coupling.master
        for other in mechanism.joints.values()
        for coupling in other.couplings.values()
    }
    return (
        joint.dof_flags[3:].all()
        and np.isinf(joint.min_dof_limit[3:]).all()
        and np.isinf(joint.max_dof_limit[3:]).all()
        and not joint.couplings
        and joint not in driving
    )


def moved(mechanism, names, q, name, step):
    """Return q with one value changed; a free ball joint is turned about its own axis."""
    q = q.copy()
    joint_name, _, dof = name.partition('.')
    if dof in BALL and turns_freely(mechanism, mechanism.joints[joint_name]):
        three = [names.index(f'{joint_name}.{d}') for d in BALL]
        turn = Rotation.from_rotvec(step * np.eye(3)[BALL.index(dof)])
        turned = Rotation.from_euler('xyz', q[three]) * turn
        q[three] = turned.as_euler('xyz')
        return q
    q[names.index(name)] += step
    return q


def as_log_derivative(turned, jacobian):
    """Undo the left multiplication of a full orientation's three rows by Jl(phi)."""
    jacobian = jacobian.copy()
    if len(turned) == 3:
        jacobian[-3:] = inverse_left_jacobian(turned) @ jacobian[-3:]
    return jacobian


def check(mechanism, seed, count=1):
    """Compare at random configurations, and return the number of compared blocks."""
    rows, rng = Rows(mechanism), np.random.default_rng(seed)
    compared = 0
    for _ in range(count):
        q = mechanism.random_q(rows.names, rng)
        _, jacobian = rows.at(q)
        there = mechanism.naive(rows.names, q, follow=True)
        wanted = {name: np.zeros_like(jacobian[name]) for name in jacobian}
        for name in rows.free:
            ends = [
                mechanism.naive(
                    rows.names, moved(mechanism, rows.names, q, name, step), follow=True
                )
                for step in (STEP, -STEP)
            ]
            for closer_name, block in wanted.items():
                plus, minus = (
                    np.concatenate(end.residual(end.closers[closer_name])) for end in ends
                )
                block[:, rows.names.index(name)] = (plus - minus) / (2 * STEP)
        for name, block in wanted.items():
            _, turned = there.residual(there.closers[name])
            if np.linalg.norm(turned) > 3.0:
                continue  # so near half a turn the logarithm jumps
            found = as_log_derivative(turned, jacobian[name])
            np.testing.assert_allclose(found, block, atol=1e-6, err_msg=name)
            compared += 1
    return compared


def test_jacobian_of_every_mechanism_equals_differences():
    """All rows by all free values, with multi-DoF joints, couplings and closures."""
    for name in MECHANISMS:
        assert check(MECHANISMS[name](), seed=sum(map(ord, name))) > 0


def test_jacobian_of_every_axis_subset_equals_differences():
    """One to three rotational axes in all frames, with one or both ends moving."""
    for axes in AXES:
        for parent in ['left', None]:
            for turns in TURNS:
                moves = {1: ('X', 'Z'), 2: ('Y',), 3: ('X', 'Y', 'Z')}[len(turns)]
                assert check(held(axes, (*moves, *turns), parent=parent), seed=7) > 0, turns


def give_masses(mechanism, rng):
    """Give every link of a mechanism a mass at a random position."""
    for link in mechanism.links.values():
        link.mass = rng.uniform(0.5, 3.0)
        link.centre_of_mass = rng.normal(size=3) * 0.1


def test_jacobian_of_every_goal_kind_equals_differences():
    """On every mechanism, relative to the root frame and to another link."""
    for name in ['ball_limited', 'coupled', 'hexapod', 'relative', 'walker']:
        mechanism, rng = MECHANISMS[name](), np.random.default_rng(9)
        give_masses(mechanism, rng)
        first, last = (list(mechanism.links)[at] for at in (0, -1))
        middle = list(mechanism.links)[len(mechanism.links) // 2]
        for kind, link, dof in (
            ('look_at', last, 'X Y Z'),
            ('centre_of_mass', first, 'X Y Z'),
            ('centre_of_mass', middle, 'X Z'),
            ('distance', last, 'X'),
            ('cylinder', last, 'X'),
            ('universal', last, 'X Y Z'),
            ('frame', last, 'X Y EX'),
        ):
            for parent in (None, middle):
                for axes in ('world', 'goal'):
                    goal = mechanism.goal(
                        f'{kind} {link} {parent} {axes}', link, dof, axes, parent
                    )
                    goal.kind = kind
                    goal.set_position(*rng.normal(size=3))
                    goal.set_quaternion(*rng.normal(size=4))
                    if kind != 'centre_of_mass':
                        goal.set_offset(rng.normal(size=3), rng.normal(size=4))
        assert check(mechanism, seed=10) >= 22


class Everything(UserGoal):
    """A residual that depends on all numbers of all frames that it sees."""

    units = ('rad', 'm', 'rad')

    def residual(self, frames):
        """Return the rows."""
        *seen, _ = frames.values()
        total = sum(np.sin((k + 1) * frame[:3]).sum() for k, frame in enumerate(seen))
        first, last = seen[0], seen[-1]
        return last[0, 0] * seen[1][1, 1], total, last[0, 3] * first[2, 3] - last[2, 1]


@pytest.mark.parametrize('name', ['ball_limited', 'coupled', 'hexapod', 'relative', 'walker'])
def test_jacobian_of_goal_of_user_equals_differences(name):
    """By joints that slide, turn, follow others or are balls, through all links that it sees."""
    mechanism = MECHANISMS[name]()
    links = list(mechanism.links.values())
    goal = Everything('everything')
    goal.make_closure(links[1], links[len(links) // 2], links[-1])
    mechanism.goals['everything'] = goal
    mechanism.roots.append(goal)
    assert check(mechanism, seed=11, count=2) > 1


def test_ball_joint_has_full_rank_in_gimbal_lock():
    """The columns of a free ball joint are rotations, not Euler angles."""
    mechanism = MECHANISMS['ball']()
    rows = Rows(mechanism)
    q = np.zeros(len(rows.names))
    q[rows.names.index('shoulder.EY')] = np.pi / 2
    _, jacobian = rows.at(q)
    three = [rows.names.index(f'shoulder.{d}') for d in BALL]
    assert np.linalg.svd(jacobian['hand_goal'][3:, three])[1].min() == pytest.approx(1.0)


@pytest.mark.parametrize('dof', ['EX', 'EZ'])
def test_jacobian_of_follower_of_ball_joint_uses_euler_angle(dof):
    """A hinge follows one Euler angle of a ball joint."""
    m = Mechanism('driven')
    m.root('base')
    ball = m.joint('ball', 'base', 'EX EY EZ', (0, 0, 0.2))
    hinge = m.joint('hinge', 'ball_link', 'EY', (0.3, 0, 0))
    hinge.couple('EY', ball, DOF[dof], (0.1, 0.8))
    m.tip('tool', 'hinge_link', (0.2, 0.1, 0))
    m.goal('goal', 'tool', 'X Y Z')
    assert check(m, seed=3, count=2) > 0

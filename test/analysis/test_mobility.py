"""Mobility by counting and by rank, and its report."""

from copy import deepcopy
import json
import pickle

from ik_node.analysis.mobility import Mobility
from ik_node.robot import load_robot
import numpy as np
import pytest
from support.bar_loops import closing_angles, loop, mobility
from support.building import Mechanism
from support.closed_mechanisms import anchors, CLOSED
from support.naive import Naive
from support.truth_sets import TRUTH_SETS


def gap_of(m):
    """Return the largest gap of the closures."""
    there = m.naive()
    return max(max(there.error(c)) for c in m.closures.values())


def test_four_bar_has_mobility_one():
    """By rank for every closure type; counting gives -2 for a hinge."""
    for crank in [0.4, -1.0]:
        for kind, dof, gruebler, redundant in [
            ('hinge', None, -2, 3),
            ('weld', 'X Y', 1, 0),
            ('point', None, 0, 1),
        ]:
            m = loop('fourbar', dof, kind, angles=closing_angles(crank))
            assert gap_of(m) <= 1e-12
            found = mobility(m)
            assert found == 1
            assert found.gruebler == gruebler
            assert (found.rank, found.closure_rows) == (2, 2 + redundant)
            assert found.redundant_rows == redundant
            assert found.redundant_closures == ({'tie': redundant} if redundant else {})
            assert found.chains == [('j0', 'j1', 'j2')]


def test_hexapod_with_spinning_legs_has_extra_mobility():
    """Each leg with balls at both ends turns about itself."""
    m = Mechanism('spinning')
    m.root('base')
    m.joint('float', 'base', 'X Y Z EX EY EZ', (0, 0, 0.6), link='platform')
    for k in range(6):
        foot, top = anchors(k)
        m.joint(f'ball{k}', 'base', 'EX EY EZ', foot)
        way = np.subtract(top, foot)
        tilt = np.arctan2(way[0], way[2])
        rpy = (-np.arctan2(way[1], np.hypot(way[0], way[2])), tilt, 0)
        m.joint(f'slide{k}', f'ball{k}_link', 'Z', rpy=rpy).set_dof_values(np.linalg.norm(way))
        m.closure(
            f'top{k}', 'platform', f'slide{k}_link', 'point', xyz=np.subtract(top, (0, 0, 0.6))
        )
    assert gap_of(m) <= 1e-12
    found = mobility(m)
    assert (found, found.gruebler, found.free, found.rank) == (12, 12, 30, 18)


def bennett(turn):
    """Build Bennett's linkage in a closed configuration, closed by its fourth hinge."""
    a, alpha, beta = 0.5, 0.6, 1.3
    b = a * np.sin(beta) / np.sin(alpha)
    other = 2 * np.arctan2(
        np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2), np.tan(turn / 2)
    )
    m = Mechanism('bennett')
    m.root('base')
    parent, place = 'base', ((0, 0, 0), (0, 0, 0))
    bars = ((a, alpha, turn), (b, beta, other), (a, alpha, -turn))
    for at, (length, twist, angle) in enumerate(bars):
        m.joint(f'j{at}', parent, 'EZ', *place).set_dof_values(angle)
        parent, place = f'j{at}_link', ((length, 0, 0), (twist, 0, 0))
    m.tip('end', parent, *place)
    m.closure('last', 'base', 'end', 'hinge', xyz=(-b, 0, 0), rpy=(-beta, 0, 0))
    return m


@pytest.mark.parametrize('turn', [0.3, 2.7])
def test_bennett_linkage_has_mobility_one(turn):
    """Counting finds it twice over-constrained."""
    m = bennett(turn)
    assert gap_of(m) <= 1e-12
    found = mobility(m)
    assert (found, found.gruebler, found.rank, found.redundant_rows) == (1, -2, 2, 3)


def parallelogram(crank):
    """Build bars of 0.4, 1.0 and 0.4 on a base of 1 m."""
    return loop('parallelogram', lengths=(0.4, 1.0, 0.4), angles=(crank, -crank, crank - np.pi))


def test_flat_parallelogram_has_mobility_two():
    """Its branches meet there; elsewhere it has one."""
    for crank in (0.5, 1.5, 2.9):
        m = parallelogram(crank)
        assert gap_of(m) <= 1e-12
        assert mobility(m) == 1
    flat = mobility(parallelogram(0.0))
    assert (flat, flat.rank, flat.redundant_closures) == (2, 1, {'tie': 4})


@pytest.mark.parametrize('limited', [False, True])
def test_ball_joint_in_gimbal_lock_has_mobility_three(limited):
    """The freedom is the joint's, not that of the angles that describe it."""
    m = Mechanism('ball')
    m.root('base')
    ball = m.joint('ball', 'base', 'EX EY EZ', limits=(-1.6, 1.6) if limited else None)
    ball.set_dof_values(0.3, np.pi / 2, 0.2)
    m.closure('still', 'base', 'ball_link', dof='EX EY EZ')
    m.closures['still'].set_quaternion(*ball.get_world_quaternion())
    assert (mobility(m), mobility(m).rank) == (0, 3)
    ball.lock('EY')  # what is left are two angles about one axis
    assert (mobility(m), mobility(m).free, mobility(m).rank) == (1, 2, 1)


def derivatives(m):
    """Return d closure rows / d values by central differences of the oracle, root axes."""
    rows = []
    for joint, dof in [(j, d) for j in m.joints.values() for d in j.dof]:
        ends = []
        present = joint.dof_values[dof]
        for sign in (1, -1):
            joint.dof_values[dof] = present + sign * 1e-6
            there = Naive(m.roots)
            ends.append(
                np.concatenate([np.concatenate(there.residual(c)) for c in m.closures.values()])
            )
        joint.dof_values[dof] = present
        rows.append((ends[0] - ends[1]) / 2e-6)
    return np.array(rows).T


def test_mobility_equals_null_space_of_differentiated_oracle():
    """For every mechanism."""
    for name in CLOSED:
        m = CLOSED[name]()
        jacobian = derivatives(m)
        rank = np.linalg.matrix_rank(jacobian, tol=1e-6)
        found = mobility(m)
        assert found.free == jacobian.shape[1]
        assert found.closure_rows == jacobian.shape[0]
        assert found.rank == rank
        assert found == jacobian.shape[1] - rank


def test_singular_values_descend_and_give_condition_number():
    """The ratio of the largest to the smallest nonzero one."""
    m = loop('fourbar', angles=closing_angles(1.1))
    wanted = np.linalg.svd(derivatives(m), compute_uv=False)
    found = mobility(m)
    np.testing.assert_allclose(found.singular_values, wanted, atol=1e-8)
    assert found.condition == pytest.approx(wanted[0] / wanted[1], rel=1e-6)


def test_mobility_without_closures_is_number_of_values():
    """There is no condition number."""
    m = Mechanism('arm')
    m.root('base')
    m.joint('a', 'base', 'EZ')
    found = mobility(m)
    assert (found, found.gruebler, found.rank, found.chains) == (1, 1, 0, [])
    assert found.singular_values.shape == (0,)
    assert np.isnan(found.condition)
    assert found.facts()['condition'] is None
    assert found.report() == 'mobility 1: 1 free value, 0 closure rows of rank 0'


def test_mobility_behaves_like_int():
    """It adds, compares, prints and serialises to JSON."""
    found = mobility(loop('fourbar', angles=closing_angles(1.1)))
    assert isinstance(found, int)
    assert found + 1 == 2
    assert (str(found), f'{found}', f'{found:3d}') == ('1', '1', '  1')
    assert json.dumps({'mobility': found}) == '{"mobility": 1}'
    for copied in (deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert isinstance(copied, Mobility)
        assert copied.facts() == found.facts()


def test_mobility_facts_and_report_have_plain_types():
    """All of it as plain types, and in words."""
    found = mobility(loop('fourbar', angles=closing_angles(1.1)))
    facts = json.loads(json.dumps(found.facts()))
    assert facts.pop('singular_values') == found.singular_values.tolist()
    assert facts.pop('condition') == found.condition
    assert facts == {
        'mobility': 1,
        'free': 3,
        'closure_rows': 5,
        'rank': 2,
        'gruebler': -2,
        'redundant_rows': 3,
        'redundant_closures': {'tie': 3},
        'chains': [['j0', 'j1', 'j2']],
    }
    report = found.report().splitlines()
    assert report[0] == 'mobility 1: 3 free values, 5 closure rows of rank 2'
    assert report[1] == 'the Gruebler count is -2: 3 rows are redundant here (tie 3)'
    assert report[2].startswith('singular values ')
    assert report[3] == 'chain of 3: j0 j1 j2'


def test_mobility_equals_truth_data(shared):
    """The null space at each published pose."""
    for name in TRUTH_SETS:
        truth = json.loads((shared / 'truth' / f'{name}.json').read_text())
        annotations = truth.get('closures_yaml')
        robot = load_robot(
            shared / truth['model'],
            closures=shared / annotations if annotations else None,
            assemble=False,
        )
        order = [truth['joints'].index(joint) for joint in robot.joint_names]
        for entry in truth['poses'][::4]:
            robot.q = np.array(entry['q'])[order]
            found = robot.mobility
            assert found == entry['dof']
            assert found.rank + found == found.free
            if found.rank and entry.get('sigma_min'):
                least = found.singular_values[found.rank - 1]
                assert least == pytest.approx(entry['sigma_min'], rel=1e-3)


def test_rounding_errors_add_no_rank():
    """A slider parallel to a slider keeps its freedom."""
    text = (
        '<robot name="r"><link name="a"/><link name="b"/>'
        '<joint name="j" type="prismatic"><parent link="a"/><child link="b"/>'
        '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0.6 0.0 0.8"/></joint>'
        '<loop_joint name="l" type="prismatic"><link1 link="b" xyz="1 2 3"/>'
        '<link2 link="b_at_zero" xyz="1 2 3"/><axis xyz="0.6 0.0 0.8"/></loop_joint>'
        '<link name="b_at_zero"/><joint name="f" type="fixed"><parent link="a"/>'
        '<child link="b_at_zero"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/></joint></robot>'
    )
    mobility = load_robot(text).mobility
    assert 0.0 < mobility.singular_values.max() < 1e-12
    assert mobility == 1

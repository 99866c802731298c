"""How far a closure or goal is from met: as the objects say, and as the oracle does."""

from ik_node.model.dof import DOF_NAMES
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
from ik_node.scene.constraint_frames import ConstraintFrames, gap_of
from ik_node.scene.skeleton import Skeleton
from ik_node.solver.options import SolverOptions
import numpy as np
import pytest
from support.mechanisms import AXES, held, MECHANISMS, TURNS


def compare(m, closer, seed):
    """Hold the gap at random values against the oracle's and the object's residual."""
    tree = build_tree(m.roots)
    q = m.random_q(tree.names, np.random.default_rng(seed))
    skeleton = Skeleton(tree)
    frames = ConstraintFrames(skeleton, request_of(closer))
    snapshot = skeleton.at(q)
    a, b = frames.frame_a(snapshot), frames.frame_b(snapshot)
    naive = m.naive(tree.names, q)
    for found, wanted in zip((a, b), naive.ends(closer), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    gap = gap_of(frames.request, a, b)
    np.testing.assert_allclose(gap, naive.error(closer), atol=1e-9)
    for name, value in zip(tree.names, q, strict=True):
        joint = m.joints[name.partition('.')[0]]
        joint.set_dof_value(name.partition('.')[2] or joint.dof[0], value)
    if hasattr(closer, 'get_residual'):
        assert np.hypot(*gap) == pytest.approx(np.linalg.norm(closer.get_residual()), abs=1e-9)


@pytest.mark.parametrize('axes', AXES)
@pytest.mark.parametrize('turns', TURNS, ids=' '.join)
def test_gap_equals_residual_for_every_choice_of_axes(axes, turns):
    """Any turns, with and without translations, counted in anybody's axes."""
    for dof in (turns, ('X', 'Z', *turns)):
        m = held(axes, dof)
        compare(m, m.goals['goal'], seed=6)


@pytest.mark.parametrize('kind', ['universal', 'distance'])
def test_gap_equals_residual_for_universal_and_distance_closures(kind):
    """Rows that are no components of a pose."""
    m = held('goal', (), kind=kind)
    compare(m, next(c for c in m.links['left'].children if c.is_closure), seed=7)


@pytest.mark.parametrize('name', [n for n in MECHANISMS if MECHANISMS[n]().closures])
def test_frames_and_gaps_of_every_mechanism_are_right(name):
    """Pins, welds, points, rods, and goals."""
    m = MECHANISMS[name]()
    for seed, closer in enumerate([*m.closures.values(), *m.goals.values()]):
        compare(m, closer, seed)


def test_gap_of_look_at_goal_equals_residual():
    """The angle between the line of sight and the goal."""
    m = held('world', DOF_NAMES)
    m.goals['goal'].kind = 'look_at'
    compare(m, m.goals['goal'], seed=8)


def test_frame_a_of_mass_goal_is_at_centre_of_mass():
    """Frame A is at the centre of all masses that the link carries."""
    m = held('world', ('X', 'Y'))
    for seed, name in enumerate(('right', 'left')):
        link = m.links[name]
        link.mass, link.centre_of_mass = 2.0 + seed, np.array((0.1, 0.2, -0.3))
    m.goals['goal'].kind = 'centre_of_mass'
    m.goals['goal'].remove_child(m.links['right'])
    m.goals['goal'].make_closure(m.links['trunk_link'])
    compare(m, m.goals['goal'], seed=9)


@pytest.mark.parametrize(
    ('tolerance', 'options', 'met', 'text'),
    [
        (None, {}, False, '5 mm, 2 deg'),
        (None, {'translation_converge_threshold': 0.01}, False, '2 deg'),
        (None, {'rotation_converge_threshold': 0.1}, False, '5 mm'),
        ((0.01, 0.1), {}, True, ''),
        ((0.001, 0.1), {'translation_converge_threshold': 1.0}, False, '5 mm'),
    ],
)
def test_tolerance_of_constraint_decides_if_it_is_met(tolerance, options, met, text):
    """The tolerance of its own, else the solver's; the text names what is beyond."""
    m = MECHANISMS['arm6']()
    goal = m.goals['hand_goal']
    position, quat = m.pose_of('hand')
    goal.set_position(*np.add(position, (0, 0.003, 0.004)))
    goal.set_quaternion(*quat)
    turn = np.radians(2.0)
    goal.set_offset((0, 0, 0), (0, 0, np.sin(turn / 2), np.cos(turn / 2)))
    goal.tolerance = tolerance
    skeleton = Skeleton(build_tree(m.roots))
    frames, snapshot = ConstraintFrames(skeleton, request_of(goal)), skeleton.at(None)
    gap = frames.gap(frames.frame_a(snapshot), frames.frame_b(snapshot), SolverOptions(**options))
    assert (gap.met, gap.text) == (met, text)

"""Joint velocities for twists of goals, against differences of solves and against SciPy."""

from hypothesis import given, settings
from hypothesis import strategies as st
import ik_node as ik
from ik_node.errors import OptionError, ShapeError, UnknownFrameError
from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.building import mechanism_of
from support.mechanisms import AXES, held, MECHANISMS
from support.rates import derivative, Optimum, Rates

FINE = SolverOptions(
    restarts=0, translation_converge_threshold=1e-13, rotation_converge_threshold=1e-13
)
NAMES = [name for name in MECHANISMS if name not in ('snake', 'string_of_bodies')]
# Plain Python is a hundred times slower.
EXAMPLES = 15 if is_compiled() else 3
LINEAR, ANGULAR = np.array((0.1, -0.2, 0.05)), np.array((0.3, 0.1, -0.2))
TWIST = np.concatenate((LINEAR, ANGULAR))


def robot_of(name):
    """Return a robot of the package as a mechanism, with a goal for one of its links."""
    robot = ik.load_robot(f'urdf/{name}.urdf')
    links = {'delta': 'platform_link', 'two_arms_one_box': 'box_link', 'hexapod': 'platform_link'}
    robot.add_goal(links[name], name='tool')
    for joint in robot.joints.values():
        joint.max_velocity.fill(np.inf)
    return mechanism_of(robot)


def mechanism(name, repository, monkeypatch):
    """Return a mechanism of the catalogue or a robot of the package."""
    monkeypatch.chdir(repository)
    return MECHANISMS[name]() if name in MECHANISMS else robot_of(name.removeprefix('urdf '))


def closed(m, solver, rng, spread=0.4):
    """Return random values with closed loops."""
    for _ in range(30):
        found = solver.solve_pose({}, m.random_q(solver.joint_names, rng, spread))
        if found.converged:
            return found.q
    raise AssertionError(f'{m.name} does not close')


def random_twists(m, rng, size=0.5):
    """Return a twist for every goal."""
    return {name: tuple(rng.normal(size=(2, 3)) * size) for name in m.goals}


CURVES = [
    'fourbar',
    'fourbar_pinned',
    'fivebar',
    'hexapod',
    'hexapod_single',
    'walker',
    'two_arm_box',
    'universal_and_distance',
    'arm6',
    'arm7',
    'ball',
    'free_body',
    'mixed',
    'universals',
    'coupled',
    'relative',
    'urdf delta',
    'urdf hexapod',
    'urdf two_arms_one_box',
]


@pytest.mark.parametrize('name', CURVES)
def test_velocity_follows_curve_of_closed_configurations(name, repository, monkeypatch):
    """The twists along such a curve are met, by the curve's velocity if there is no other one."""
    m = mechanism(name, repository, monkeypatch)
    solver, rng = m.solver(FINE), np.random.default_rng(0)
    q = closed(m, solver, rng, 0.3)
    least, most = solver.limits()
    if ((q <= least) | (q >= most)).any():
        pytest.skip('at a limit')
    way = 0.2 * rng.normal(size=len(q))
    curve = derivative(lambda s: solver.solve_pose({}, q + s * way).q)
    rates = Rates(m, solver, q)
    twists = {name: rates.twist(goal, curve) for name, goal in m.goals.items()}
    rows = [
        rates.rows(goal) @ rates.matrix(lambda v, g=goal: rates.twist(g, v))
        for goal in m.goals.values()
    ]
    values = np.linalg.svd(np.vstack([rates.matrix(rates.loops), *rows]), compute_uv=False)
    values = values[values > 1e-6]
    if values[-1] < 0.02:
        pytest.skip('near a singular pose')
    found = solver.velocity(twists, q)
    assert found.converged, found.message
    assert np.abs(rates.loops(found.velocity)).max(initial=0.0) <= 1e-9
    for name, twist in twists.items():
        missing = rates.rows(m.goals[name]) @ (rates.twist(m.goals[name], found.velocity) - twist)
        np.testing.assert_allclose(missing, 0.0, atol=1e-8)
    if len(values) == len(rates.free):
        np.testing.assert_allclose(
            found.velocity, curve, atol=1e-8 * max(1.0, np.abs(curve).max())
        )


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.integers(0, 10**6),
    st.sampled_from([None, 0.002, 0.05, 1.0]),
    st.booleans(),
    st.booleans(),
)
def test_velocity_is_optimal_within_limits(name, seed, dt, fast, locks):
    """Loops stay closed, limits are kept, and SciPy finds the multipliers of the optimum."""
    m, rng = MECHANISMS[name](), np.random.default_rng(seed)
    if not m.goals:
        return
    solver = m.solver(SolverOptions(restarts=5))
    q = closed(m, solver, rng)
    for goal in m.goals.values():
        goal.weight, goal.priority = rng.uniform(0.3, 1.0), int(rng.integers(2))
    joints = [joint for joint in m.joints.values() if joint.dof]
    for joint in joints:
        joint.max_velocity[:] = np.inf if fast else rng.uniform(0.1, 1.0)
    if locks:
        joints[rng.integers(len(joints))].lock()
    found = Optimum(m, solver, random_twists(m, rng), q, dt)
    velocity, (least, most) = found.solution.velocity, solver.limits()
    assert np.isfinite(velocity).all()
    assert np.abs(velocity).max() <= 1e3
    assert found.loops <= 1e-9
    assert found.errors <= 1e-8 * max(1.0, np.abs(velocity).max())
    assert found.beyond <= 1e-15
    assert (np.abs(velocity) <= solver.tree.max_velocity).all()
    if dt is not None:
        assert (q + dt * velocity >= least).all()
        assert (q + dt * velocity <= most).all()
    assert set(found.solution.active_limits) <= found.bound
    if np.abs(velocity).max() <= 20.0:  # farther off the damping counts
        # These are often near singular poses.
        singular = name in ('standing', 'universals')
        assert max(found.slopes, default=0.0) <= (1e-3 if singular else 1e-4)
        assert found.norm <= 1e-5


def test_lower_priority_uses_what_higher_one_leaves():
    """Position first, then an orientation that contradicts it."""
    m = MECHANISMS['planar']()
    m.goal('turn', 'end', 'EZ').priority = 1
    m.goal('elbow', 'p3_link', 'X').priority = 2
    solver = m.solver()
    q = np.array((0.3, 0.5, -0.4))
    goals = {
        'end_goal': ((0.1, 0.2, 0.0), np.zeros(3)),
        'turn': (np.zeros(3), (0.0, 0.0, 0.7)),
        'elbow': ((0.5, 0.0, 0.0), np.zeros(3)),
    }
    found = solver.velocity(goals, q)
    errors = found.goal_errors
    assert found.status is Status.STALLED
    assert max(*errors['end_goal'], *errors['turn']) <= 1e-9
    assert errors['elbow'].linear > 0.01
    assert "goal 'elbow'" in found.message
    without = solver.velocity({name: goals[name] for name in ('end_goal', 'turn')}, q)
    np.testing.assert_allclose(found.velocity, without.velocity, atol=1e-9)


DOFS = ['X', 'EX EY', 'X Z EY', 'X Y Z EX EY EZ']


def test_twist_counts_on_constrained_axes_only():
    """In every frame of the axes, for frames that stand or move, far from the goal's pose."""
    for axes in AXES:
        for dof in DOFS:
            for parent in ['base', 'left']:
                m = held(axes, dof.split(), parent=parent)
                solver = m.solver()
                rng = np.random.default_rng(3)
                q = m.random_q(solver.joint_names, rng, 0.5)
                rates = Rates(m, solver, q)
                goal = m.goals['goal']
                twist = rng.normal(size=(2, 3))
                found = solver.velocity({'goal': twist}, q)
                missing = rates.rows(goal) @ (rates.twist(goal, found.velocity) - twist.ravel())
                moves = sum(each in 'XYZ' for each in dof.split())
                reported = np.linalg.norm(missing[:moves]), np.linalg.norm(missing[moves:])
                np.testing.assert_allclose(found.goal_errors['goal'], reported, atol=1e-8)
                if len(missing) < 6:
                    assert found.converged
                    np.testing.assert_allclose(missing, 0.0, atol=1e-8)


@pytest.mark.parametrize('kind', ['look_at', 'distance'])
@pytest.mark.parametrize('base', [None, 'j2_link'])
def test_goal_of_this_kind_follows_moving_target(kind, base):
    """Its residual stays as it is while the target moves with the linear velocity."""
    m = MECHANISMS['arm7']()
    goal = m.goal('seen', 'hand', parent=base)
    goal.kind, goal.distance = kind, 0.4
    goal.set_position(0.8, 0.3, 0.9)
    solver = m.solver()
    q = m.random_q(solver.joint_names, np.random.default_rng(5))
    found = solver.velocity({'seen': (LINEAR, ANGULAR)}, q)
    assert found.converged

    def residual(s):
        naive = m.naive(solver.joint_names, q + s * found.velocity)
        turn = np.eye(3) if base is None else naive.world(m.links[base])[:3, :3]
        wanted = (goal.position + s * (turn.T @ LINEAR), (0, 0, 0, 1))
        return np.concatenate(naive.residual(goal, wanted))

    np.testing.assert_allclose(derivative(residual), 0.0, atol=1e-8)
    assert np.abs(found.velocity).max() > 0.01
    farther = solver.velocity({'seen': (3.0 * LINEAR, -ANGULAR)}, q)
    np.testing.assert_allclose(farther.velocity, 3.0 * found.velocity, atol=1e-9)


SINGULAR = {
    'stretched arm': ('arm7', np.zeros(7)),
    'stretched planar arm': ('planar', (0.3, 0.0, 0.0)),
    'folded planar arm': ('planar', (0.3, np.pi, np.pi)),
    'wrist in line': ('arm6', (0.2, 0.4, 0.8, 0.3, 0.0, -0.2)),
    'standing straight': ('standing', None),
    'flat parallelogram': ('parallelogram', np.zeros(3)),
    'gimbal lock': ('ball', (0.1, np.pi / 2, -0.3, 0.9, 0.3, -np.pi / 2, 0.2)),
    'body in gimbal lock': ('free_body', (0.1, 0.2, 0.3, 0.2, np.pi / 2, 0.1, 0.0, 0.0)),
}


def test_velocity_is_bounded_near_singular_pose():
    """At any distance, with loops closed to first order."""
    for name in SINGULAR:
        for off in [0.0, 1e-6, 1e-3]:
            kind, q = SINGULAR[name]
            m = MECHANISMS[kind]()
            solver = m.solver(FINE)
            rng = np.random.default_rng(4)
            q = np.zeros(len(solver.joint_names)) if q is None else np.array(q, float)
            q = q + off * rng.normal(size=len(q))
            if m.closures:
                q = solver.solve_pose({}, q).q
            rates = Rates(m, solver, q)
            for goals in (random_twists(m, rng, 1.0) for _ in range(3)):
                found = solver.velocity(goals, q)
                length = solver.problem_for(tuple(goals)).chains[0].characteristic_length
                size = max(
                    np.abs(twist / np.array([[length], [1.0]])).max() for twist in goals.values()
                )
                assert np.isfinite(found.velocity).all()
                # Euler angles near gimbal lock turn up to a hundred times as fast as the ball.
                assert np.abs(found.velocity).max() <= (3e4 if 'gimbal' in name else 600.0) * size
                gap = np.abs(rates.loops(found.velocity)).max(initial=0.0)
                most = (
                    1e-6 if off == 1e-6 else 1e-9
                )  # double precision holds loops no firmer there
                assert gap <= most * max(1.0, np.abs(found.velocity).max())


def test_joint_at_limit_moves_inwards_only():
    """Without dt the limit matters only to a joint that is at it."""
    m = MECHANISMS['arm6']()
    solver = m.solver()
    least, most = solver.limits()
    q = closed(m, solver, np.random.default_rng(0))
    free = solver.velocity({'hand_goal': (LINEAR, ANGULAR)}, q).velocity
    at = int(np.argmax(np.abs(free)))
    outwards = most if free[at] > 0 else least
    inside = q.copy()
    inside[at] = outwards[at] - 1e-6 * np.sign(free[at])
    assert solver.velocity({'hand_goal': (LINEAR, ANGULAR)}, inside).active_limits == ()
    q[at] = outwards[at]
    there, back = (solver.velocity({'hand_goal': k * TWIST}, q) for k in (1.0, -1.0))
    if back.active_limits:
        there, back = back, there
    name = solver.joint_names[at]
    assert there[name] == pytest.approx(0.0, abs=1e-12)
    assert there.active_limits == (name,)
    assert f'at position limits: {name}' in there.message
    assert back.converged
    assert np.sign(back[name]) == -np.sign(outwards[at])


def test_wrong_twists_are_refused():
    """The message names the goal."""
    for goals, error, words in [
        ({'nose': np.zeros(6)}, UnknownFrameError, 'no goal or link named'),
        ({'hand_goal': np.zeros(3)}, ShapeError, "twist of 'hand_goal'"),
        ({'hand_goal': (LINEAR, (0.0, np.nan, 0.0))}, ShapeError, 'finite'),
        ({'hand_goal': (LINEAR, (0.0, 1e300, 0.0))}, ShapeError, 'within'),
        ({'hand_goal': 'fast'}, ShapeError, "twist of 'hand_goal'"),
        ({'hand_goal': (b'abc', ANGULAR)}, ShapeError, "twist of 'hand_goal'"),
        ({'hand_goal': (LINEAR, {0.1, 0.2, 0.3})}, ShapeError, "twist of 'hand_goal'"),
        ({'hand_goal': {(0.1, 0.2, 0.3), (0.3, 0.1, 0.2)}}, ShapeError, "twist of 'hand_goal'"),
        ([('hand_goal', np.zeros(6))], OptionError, 'a mapping'),
    ]:
        solver = MECHANISMS['arm6']().solver()
        with pytest.raises(error, match=words):
            solver.velocity(goals)


def test_wrong_period_speed_and_configuration_are_refused():
    """The message names the joint; with and without goals."""
    m = MECHANISMS['arm6']()
    solver = m.solver()
    for dt in (0.0, np.nan, 'soon', True):
        with pytest.raises(OptionError, match='a time above 0'):
            solver.velocity({}, dt=dt)
    for goals in ({'hand_goal': np.zeros(6)}, {}):
        with pytest.raises(ShapeError, match='NaN or infinity for j3'):
            solver.velocity(goals, {'j3': np.nan})
        with pytest.raises(ShapeError, match=r'shape \(6,\)'):
            solver.velocity(goals, np.zeros(5))
    for bad in (np.nan, -1.0):
        m.joints['j2'].max_velocity[:] = bad
        with pytest.raises(ShapeError, match=f'max_velocity.*{bad} for j2'):
            solver.velocity({'hand_goal': np.zeros(6)})


def redundant_arm():
    """Return an arm of seven axes with a goal for its hand, and a bent configuration."""
    rows = [(0.3, 0, np.pi / 2, 0), (0, 0, -np.pi / 2, 0.3), (0.35, 0.05, np.pi / 2, 0.2)]
    rows += [(0, -0.05, -np.pi / 2, -0.8), (0.3, 0, np.pi / 2, 0.4), (0, 0.08, np.pi / 2, 0.5)]
    robot = ik.from_dh([*rows, (0.1, 0, 0, 0)], limits=[(-3, 3)] * 7)
    robot.add_goal('link7', name='tool')
    return robot, np.array((0.1, 0.5, -0.3, -1.0, 0.2, 0.7, 0.1))


@pytest.mark.parametrize(('dt', 'twist'), [(None, TWIST), (0.1, TWIST), (0.01, 0.0 * TWIST)])
def test_rest_pose_is_approached_in_null_space_of_twists(dt, twist):
    """Velocity J^+ t + (1 - J^+ J) g (rest - q) / dt, also for a hand at rest."""
    robot, q = redundant_arm()
    rest = q + np.array((0.2, -0.4, 0.5, 0.5, -0.2, -0.5, 0.3))
    for joint, value in zip(robot.joints.values(), rest, strict=True):
        joint.set_rest_pose_values(value)
    solver, jacobian = ik.Solver(robot), robot.jacobian(q, 'link7')
    inverse = np.linalg.pinv(jacobian)
    preferred = solver.options.rest_pose_factor * (rest - q) / (dt or 1.0)
    expected = inverse @ twist + preferred - inverse @ (jacobian @ preferred)
    found = solver.velocity({'tool': twist}, q, dt)
    assert found.converged
    np.testing.assert_allclose(found.velocity, expected, atol=1e-10 * np.abs(expected).max())

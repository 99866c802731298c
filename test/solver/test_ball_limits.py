"""The limited rotation of a ball joint is kept by solves, drives, batches and paths."""

from math import radians

import ik_node as ik
from ik_node.native import is_compiled
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

LIMIT = radians(40)
ARM = """<mujoco><worldbody><body name="upper" pos="0 0 1">
<joint name="shoulder" type="ball" range="0 40" limited="true"/>
<geom size="0.1"/><body name="fore" pos="0 0 -0.3">
<joint name="elbow" axis="0 1 0" range="-120 0" limited="true"/><geom size="0.1"/>
<body name="hand" pos="0 0 -0.3"><geom size="0.1"/></body></body></body></worldbody></mujoco>"""
# A table on three legs, each a slide with a ball joint below it and a point that closes the loop.
LEG = """<body name="leg{0}" pos="{1} {2} 0"><joint name="slide{0}" type="slide" axis="0 0 1"/>
<geom size="0.01"/><body name="rod{0}"><joint name="ball{0}" type="ball" range="0 {3}"
limited="true"/><geom size="0.01"/><site name="top{0}" pos="0 0 0.5"/></body></body>"""
COUNT = 60 if is_compiled() else 3


def arm():
    """Return an arm with a ball joint as shoulder, and a goal for its hand."""
    robot = ik.load_robot(ARM)
    robot.add_goal('hand', name='hand', dof='X Y Z')
    return robot


def angle(robot, q, child='upper'):
    """Return the angle of the shoulder [rad]."""
    return Rotation.from_matrix(robot.forward(q, child)[:3, :3]).magnitude()


def configuration(robot, turn, elbow):
    """Return the joint values for a rotation vector of the shoulder [rad]."""
    ez, ey, ex = Rotation.from_rotvec(turn).as_euler('ZYX')
    values = {'shoulder.EX': ex, 'shoulder.EY': ey, 'shoulder.EZ': ez, 'elbow': elbow}
    return np.array([values[name] for name in robot.joint_names])


def goals(robot, least, most, count=COUNT):
    """Yield hand positions with the shoulder turned by an angle between two shares of LIMIT."""
    rng = np.random.default_rng(4)
    for _ in range(count):
        way = rng.normal(size=3)
        way *= LIMIT * rng.uniform(least, most) / np.linalg.norm(way)
        q = configuration(robot, way, -rng.uniform(0.1, 2.0))
        yield robot.forward(q, 'hand')[:3, 3]


def test_goals_inside_are_met_and_no_answer_turns_farther():
    """Half of the goals can be met by a larger angle only: these are not CONVERGED."""
    robot = arm()
    solver = ik.Solver(robot)
    inside = [solver.solve_pose({'hand': goal}) for goal in goals(robot, 0.0, 0.98)]
    assert all(each.converged for each in inside)
    beyond = [
        solver.solve_pose({'hand': (0.0, 0.55, 1.0)}),
        solver.solve_pose({'hand': (0, 0, 2)}),
    ]
    assert not any(each.converged for each in beyond)
    assert max(angle(robot, each.q) for each in inside + beyond) <= LIMIT + 1e-6


def test_batches_prepared_calls_and_paths_keep_limit():
    """Across the limit and back."""
    robot = arm()
    solver = ik.Solver(robot)
    way = np.array(
        [
            robot.forward(configuration(robot, (x, 0, 0), -0.3), 'hand')[:3, 3]
            for x in np.linspace(0, 1.1, 12)
        ]
    )
    batch = solver.solve_batch({'hand': way})
    path = solver.solve_path({'hand': way})
    prepared = solver.prepare(['hand'])
    several = [*batch.q, *path.q, *(prepared(position, (0, 0, 0, 1)).q for position in way)]
    assert max(angle(robot, q) for q in several) <= LIMIT + 1e-6
    met = np.asarray(batch.status) == Status.CONVERGED
    assert met[:6].all()
    assert not met[-1]


def test_drive_stops_at_limit_and_names_it():
    """An Euler angle of the ball cannot go on."""
    robot = arm()
    driven = ik.Solver(robot).drive({'shoulder.EX': 1.2})
    assert driven.status is Status.STALLED
    assert driven['shoulder.EX'] == pytest.approx(LIMIT, abs=1e-5)
    assert 'turn of shoulder' in driven.message


def test_swing_leaves_twist_free():
    """The angle between the z axes is limited, the rotation about z is not."""
    robot = arm()
    shoulder = robot.joints['shoulder']
    shoulder.max_turn, shoulder.max_swing = np.inf, LIMIT
    solver = ik.Solver(robot)
    twisted = Rotation.from_rotvec((0.3, 0, 0)) * Rotation.from_rotvec((0, 0, 2.5))
    assert solver.solve_pose({'upper': ((0, 0, 1), twisted.as_quat())}).converged
    tilted = Rotation.from_rotvec((0, 1.0, 0))
    assert not solver.solve_pose({'upper': ((0, 0, 1), tilted.as_quat())}).converged


def test_limit_counts_for_no_mobility_and_survives_urdf():
    """It is no loop; the written URDF has it."""
    robot = arm()
    assert robot.mobility == 4
    assert not robot.closures
    again = ik.load_robot(robot.to_urdf())
    assert again.joints['shoulder'].max_turn == pytest.approx(LIMIT, abs=1e-12)


def test_balls_in_loops_keep_limits():
    """A platform on three legs tilts only as far as the balls of its rods allow."""
    places = [(0.3, 0.0), (-0.15, 0.26), (-0.15, -0.26)]
    legs = ''.join(LEG.format(k, x, y, 15) for k, (x, y) in enumerate(places))
    sites = ''.join(f'<site name="pin{k}" pos="{x} {y} 0"/>' for k, (x, y) in enumerate(places))
    ties = ''.join(f'<connect site1="top{k}" site2="pin{k}"/>' for k in range(3))
    robot = ik.load_robot(
        f'<mujoco><worldbody>{legs}<body name="table" pos="0 0 0.5"><freejoint name="free"/>'
        f'<geom size="0.1"/>{sites}</body></worldbody><equality>{ties}</equality></mujoco>'
    )
    robot.add_goal('table', name='table', dof='X Y EZ')
    solver = ik.Solver(robot)
    for x, met in ((0.05, True), (0.11, True), (0.2, False)):
        solution = solver.solve_pose({'table': ((x, 0.0, 0.5), (0, 0, 0, 1))})
        assert solution.converged is met, (x, solution.message)
        assert max(max(error) for error in solution.closure_errors.values()) <= 1e-6
        for k in range(3):
            assert angle(robot, solution.q, f'rod{k}') <= radians(15) + 1e-6


@pytest.mark.parametrize('dt', [None, 0.1])
def test_velocities_do_not_turn_ball_beyond_limit(dt):
    """At the limit outwards the ball stands still; inwards and along the limit it moves."""
    robot = arm()
    robot.add_goal('upper', name='turn', dof='EX EY EZ')
    solver = ik.Solver(robot)
    q = configuration(robot, (LIMIT, 0, 0), -0.3)
    zero = np.zeros(3)
    outwards = solver.velocity({'turn': (zero, (0.5, 0, 0))}, q, dt)
    assert not outwards.converged
    assert abs(outwards['shoulder.EX']) < 1e-6
    assert solver.velocity({'turn': (zero, (-0.5, 0, 0))}, q, dt).converged
    assert solver.velocity({'turn': (zero, (-0.1, 0.5, 0.2))}, q, dt).converged
    before = configuration(robot, (LIMIT - 0.01, 0, 0), -0.3)
    near = solver.velocity({'turn': (zero, (0.5, 0, 0))}, before, dt)
    assert near['shoulder.EX'] == pytest.approx(0.5 if dt is None else 0.1, abs=1e-6)

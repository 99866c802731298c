"""Goals of a robot by link name: all kinds, relative goals, and refused ones."""

from ik_node.description.files import description_path
from ik_node.errors import OptionError, ShapeError, TopologyError, UnknownFrameError
from ik_node.model.constraint import Goal
from ik_node.robot import from_dh, load_robot
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.fourbar_urdf import FOURBAR
from support.naive import naive_of, pose


@pytest.fixture
def bars():
    """Return the four-bar with its loop closed."""
    return load_robot(FOURBAR)


@pytest.fixture
def arm():
    """Return an arm of six hinges, bent, without masses."""
    rows = ((0.4, 0.05, -90), (0, 0.5, 0), (0, 0, 90), (0.5, 0, -90), (0, 0, 90), (0.1, 0, 0))
    robot = from_dh([(*row, 0) for row in rows], degrees=True)
    robot.q = [0.2, -0.6, 0.9, 0.3, -0.5, 0.4]
    return robot


@pytest.fixture(scope='module')
def hexapod():
    """Return the hexapod of the gallery."""
    return load_robot(description_path('hexapod.urdf'))


def test_new_goal_has_pose_and_name_of_its_link(bars):
    """No joint moves before the goal does."""
    offset = ((0.5, 0.2, 0), (0, 0, np.sin(0.2), np.cos(0.2)))
    plain, pen = bars.add_goal('crank'), bars.add_goal('coupler', name='pen', offset=offset)
    assert list(bars.goals) == ['crank', 'pen']
    assert plain.name == 'crank'
    for goal in (plain, pen):
        assert max(naive_of(bars).error(goal)) <= 1e-12
    solution = Solver(bars).solve_pose(
        {name: (goal.position, goal.quaternion) for name, goal in bars.goals.items()}
    )
    assert solution.iterations == 0


def test_relative_goal_follows_its_base_link(hexapod):
    """The pose is in the frame of the base link, which moves as well."""
    hexapod.add_goal('platform_link', name='lift', dof='Z')
    names = [name for name in hexapod.links if name.startswith('leg0')]
    low, offset = names[0], ((0.01, 0.02, 0.0), (0.0, 0.0, 0.0, 1.0))
    goal = hexapod.add_goal(
        'platform_link', name='seen', dof='X Y', axes='goal', base=low, offset=offset
    )
    try:
        assert goal.parent is hexapod.links[low]
        assert max(naive_of(hexapod).error(goal)) <= 1e-12
        solver = Solver(hexapod)
        lifted = (np.add(hexapod.goals['lift'].position, (0, 0, 0.004)), (0, 0, 0, 1))
        moved = np.add(goal.position, (0.002, -0.001, 0))
        solution = solver.solve_pose({'lift': lifted, 'seen': (moved, goal.quaternion)})
        assert solution.status is Status.CONVERGED
        oracle = naive_of(hexapod, solution.q)
        wanted = oracle.world(hexapod.links[low]) @ pose(moved, goal.quaternion)
        platform = oracle.world(hexapod.links['platform_link']) @ pose(*offset)
        np.testing.assert_allclose((np.linalg.inv(wanted) @ platform)[:2, 3], 0.0, atol=1e-6)
        assert np.abs(platform[:3, 3] - wanted[:3, 3]).max() > 1e-4  # the third axis was free
        assert max(max(oracle.error(c)) for c in hexapod.closures.values()) <= 1e-6
    finally:
        hexapod.remove_goal('seen')
        hexapod.remove_goal('lift')
    assert goal.parent is None
    assert all(child is not goal for child in hexapod.links[low].children)


AXES = {
    'X': (1, 0, 0),
    '-X': (-1, 0, 0),
    'y': (0, 1, 0),
    '-Y': (0, -1, 0),
    'Z': (0, 0, 1),
    '-Z': (0, 0, -1),
}


def missed_by(world, direction, point):
    """Return the angle between a direction of a frame and the line of sight to a point."""
    seen = point - world[:3, 3]
    turned = world[:3, :3] @ direction / np.linalg.norm(direction)
    return np.arctan2(np.linalg.norm(np.cross(turned, seen)), turned @ seen)


@pytest.mark.parametrize(
    ('axis', 'offset'),
    [
        *((axis, None) for axis in ('X', '-Z', (1, 2, -2))),
        *((axis, ((0.1, -0.2, 0.05), (0.5, 0.5, -0.5, 0.5))) for axis in ('y', (0, 0, -0.5))),
    ],
)
def test_look_at_goal_points_named_axis_at_goal(arm, axis, offset):
    """The axis of the offset frame points at the origin of the goal."""
    direction = np.array(AXES.get(axis, axis), dtype=float)
    goal = arm.add_goal('link6', name='eye', kind='look_at', axis=axis, offset=offset)
    mount = pose(*(offset or ((0, 0, 0), (0, 0, 0, 1))))
    ahead = naive_of(arm).world(arm.links['link6']) @ mount
    begun = ahead @ [*(direction / np.linalg.norm(direction)), 1]
    np.testing.assert_allclose(goal.position, begun[:3], atol=1e-12)
    assert np.linalg.norm(goal.get_residual()) <= 1e-12
    assert Solver(arm).solve_pose({'eye': (goal.position, goal.quaternion)}).iterations == 0
    place = np.array((0.5, -2.0, 0.7))
    solution = Solver(arm).solve_pose({'eye': (place, (0, 0, 0, 1))})
    assert solution.status is Status.CONVERGED
    world = naive_of(arm, solution.q).world(arm.links['link6']) @ mount
    assert missed_by(world, direction, place) <= 1e-6
    assert solution.goal_errors['eye'].position == 0.0


def test_centre_of_mass_goal_is_reached(arm):
    """It starts at the present centre of mass of the links that a link carries."""
    for at, link in enumerate(arm.links.values()):
        link.mass, link.centre_of_mass = 1.0 + at, np.array((0.05, 0.02 * at, -0.03))
    whole = arm.add_goal('link0', name='balance', kind='centre_of_mass')
    part = arm.add_goal('link3', name='upper', kind='centre_of_mass', dof='X Z')
    assert [dof.name for dof in whole.dof] == ['X', 'Y', 'Z']
    assert [dof.name for dof in part.dof] == ['X', 'Z']
    np.testing.assert_allclose(whole.position, arm.centre_of_mass(arm.q), atol=1e-12)
    np.testing.assert_allclose(part.position, arm.centre_of_mass(arm.q, 'link3'), atol=1e-12)
    solver = Solver(arm)
    for q in np.random.default_rng(3).uniform(-1, 1, (5, 6)):
        place = arm.centre_of_mass(q)
        solution = solver.solve_pose({'balance': (place, (0, 0, 0, 1))})
        assert solution.status is Status.CONVERGED
        np.testing.assert_allclose(arm.centre_of_mass(solution.q), place, atol=1e-6)
        place = arm.centre_of_mass(q, 'link3')
        solution = solver.solve_pose({'upper': (np.add(place, (0, 7, 0)), (0, 0, 0, 1))})
        assert solution.status is Status.CONVERGED
        found = arm.centre_of_mass(solution.q, 'link3')
        np.testing.assert_allclose(found[[0, 2]], place[[0, 2]], atol=1e-6)


@pytest.mark.parametrize(
    ('arguments', 'error', 'reason'),
    [
        ({'kind': 'wish'}, OptionError, "kind: 'wish' cannot be used; use frame distance"),
        ({'name': 'tie'}, OptionError, "name: 'tie' cannot be used"),
        ({'dof': 'X W'}, OptionError, 'dof'),
        ({'axes': 'sideways'}, OptionError, 'axes'),
        ({'base': 'nose'}, UnknownFrameError, "no link named 'nose'"),
        ({'base': 'coupler'}, OptionError, "base: 'coupler' .* another link than 'coupler'"),
        ({'offset': ((0, 0), (0, 0, 0, 1))}, ShapeError, r'offset: .*got shapes \(2,\)'),
        ({'distance': 0.3}, OptionError, 'distance: 0.3 .* none for kind frame'),
        ({'kind': 'distance', 'dof': 'X'}, OptionError, 'dof: .* for kind distance: none'),
        ({'kind': 'centre_of_mass', 'dof': 'X EZ'}, OptionError, 'centre_of_mass: some of X Y Z'),
        ({'kind': 'centre_of_mass', 'axes': 'link'}, OptionError, "axes: 'link' .* world goal"),
        ({'kind': 'centre_of_mass'}, TopologyError, "'coupler' has no mass"),
        (
            {'kind': 'centre_of_mass', 'offset': ((0, 0, 0), (0, 0, 0, 1))},
            OptionError,
            'offset: .* none for kind centre_of_mass',
        ),
        ({'kind': 'look_at', 'axis': 'W'}, OptionError, "axis: 'W' .* X Y Z -X -Y -Z, or a dir"),
        ({'kind': 'look_at', 'axis': (0, 0, 0)}, ShapeError, r'axis: expected shape \(3,\)'),
        ({'kind': 'look_at', 'axis': (0, np.nan, 1)}, ShapeError, 'axis: expected .*nan'),
        ({'axis': (0, 0, 1)}, OptionError, 'axis: .* none for kind frame'),
    ],
)
def test_refused_goal_argument_leaves_no_goal(bars, arguments, error, reason):
    """The error lists the allowed values."""
    with pytest.raises(error, match=reason):
        bars.add_goal('coupler', **arguments)
    assert dict(bars.goals) == {}
    assert [joint.name for joint in bars.links['coupler'].closure_joints] == ['tie']
    assert not any(isinstance(c, Goal) for link in bars.links.values() for c in link.children)


def test_removed_goal_is_gone_from_robot_and_new_solvers(bars):
    """Also from its link."""
    bars.add_goal('crank')
    bars.remove_goal('crank')
    assert dict(bars.goals) == {}
    assert bars.links['crank'].closure_joints == []
    assert Solver(bars).solve_pose({}).goal_errors == {}
    with pytest.raises(UnknownFrameError, match="no goal named 'crank'; known: none"):
        bars.remove_goal('crank')

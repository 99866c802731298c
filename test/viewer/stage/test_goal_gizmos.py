"""Handles of goals: where the goals are, but for the one that is held."""

import asyncio
from dataclasses import replace
import time
from types import SimpleNamespace

from ik_node.robot import from_dh
from ik_node.viewer.panels.handle_panel import HandleStyle
from ik_node.viewer.sessions.library_session import gallery_session
from ik_node.viewer.stage.goal_gizmos import GoalGizmos
from ik_node.viewer.stage.goal_handle import REST
import numpy as np
import pytest

STYLE = HandleStyle()
HALF = np.sqrt(0.5)


@pytest.fixture
def robot():
    """Return the hexapod with its goal."""
    return gallery_session('hexapod').robot


@pytest.fixture
def gizmos(scene):
    """Return handles that remember what was dragged, and the scene they are in."""
    told = []
    gizmos = GoalGizmos(scene, lambda *what: told.append(what))
    gizmos.told = told
    return gizmos


def parts(scene):
    """Return the gizmos, and the balls."""
    nodes = list(scene.nodes.values())
    return [[node for node in nodes if node.kind == kind] for kind in ('gizmo', 'ball')]


def moved(node, phase, position, wxyz=(1.0, 0.0, 0.0, 0.0), client=1):
    """Tell of a drag of a gizmo as the server does."""
    node.position, node.wxyz = position, wxyz
    event = SimpleNamespace(phase=phase, target=node, client_id=client)
    for work in node.clicks:
        asyncio.run(work(event))


def pulled(node, phase, start, end, eye=(0.0, 0.0, 9.0)):
    """Tell of a drag of a ball as the server does."""
    client = SimpleNamespace(camera=SimpleNamespace(position=np.array(eye)))
    event = SimpleNamespace(phase=phase, target=node, client_id=1, client=client)
    event.start_position, event.end_position = start, end
    for work in node.drags:
        asyncio.run(work(event))


def test_gizmo_is_where_the_goal_is(scene, gizmos, robot):
    """It comes, follows, hides and goes with its goal; it has the axes that are asked for."""
    goal = robot.goals['platform']
    goal.set_position(0.01, 0.02, 0.1)
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    (node,), (ball,) = parts(scene)
    assert node.position == ball.position == pytest.approx((0.01, 0.02, 0.1))
    assert (node.scale, node.visible, node.disable_rotations) == (0.05, True, False)
    goal.set_goal_dof('X', 'Z')
    goal.enabled = False
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    (node,), (ball,) = parts(scene)
    assert (node.visible, ball.visible, node.disable_rotations) == (False, False, True)
    assert node.active_axes == (True, False, True)
    robot.remove_goal('platform')
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    assert scene.nodes == {}


def test_dragged_gizmo_is_not_moved_by_the_page(scene, gizmos, robot):
    """While somebody drags a gizmo the page does not pull at it; let go, it is put in place."""
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    (node,), (ball,) = parts(scene)
    moved(node, 'start', (0.0, 0.0, 0.2))
    robot.goals['platform'].set_position(0.0, 0.0, 0.15)
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    assert node.position == (0.0, 0.0, 0.2)
    assert ball.position == (0.0, 0.0, 0.15)
    moved(node, 'end', (0.0, 0.0, 0.3))
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    np.testing.assert_allclose(node.position, robot.goals['platform'].matrix_world[:3, 3])
    assert [phase for *_, phase in gizmos.told] == ['start', 'end']
    name, position, quat_xyzw, _ = gizmos.told[1]
    assert name == 'platform'
    np.testing.assert_allclose(position, (0.0, 0.0, 0.3))
    np.testing.assert_allclose(quat_xyzw, (0.0, 0.0, 0.0, 1.0), atol=1e-12)


def test_closed_browser_releases_its_drags(scene, gizmos, robot):
    """What it held follows the goal again; what another one holds does not."""
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    (node,), _ = parts(scene)
    moved(node, 'start', (0.0, 0.0, 0.2), client=7)
    gizmos.release(6)
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    assert node.position == (0.0, 0.0, 0.2)
    gizmos.release(7)
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    np.testing.assert_allclose(node.position, robot.goals['platform'].matrix_world[:3, 3])


@pytest.mark.parametrize('local', [False, True])
def test_goal_rotates_as_its_gizmo_in_world_or_own_axes(scene, gizmos, robot, local):
    """Of the world or the goal's own: the goal turns as its handle does."""
    goal = robot.goals['platform']
    goal.set_quaternion(HALF, 0.0, 0.0, HALF)
    gizmos.draw(robot, 0.05, replace(STYLE, local=local), shown='all')
    (node,), _ = parts(scene)
    before = (HALF, HALF, 0.0, 0.0) if local else (1.0, 0.0, 0.0, 0.0)
    np.testing.assert_allclose(node.wxyz, before, atol=1e-12)
    moved(node, 'start', node.position, node.wxyz)
    # A quarter about the handle's own z: about -y, or z, of the world.
    after = (0.5, 0.5, -0.5, 0.5) if local else (HALF, 0.0, 0.0, HALF)
    moved(node, 'update', node.position, after)
    wanted = (0.5, -0.5, 0.5, 0.5) if local else (0.5, 0.5, 0.5, 0.5)
    np.testing.assert_allclose(gizmos.told[-1][2], wanted, atol=1e-12)


def test_style_selects_translation_and_rotation_handles(scene, gizmos, robot):
    """Only moved, it has no rings; only turned, no arrows, and no link of it is dragged."""
    gizmos.draw(robot, 0.05, replace(STYLE, turn=False), shown='all')
    (node,), (ball,) = parts(scene)
    assert (node.disable_axes, node.disable_rotations, ball.visible) == (False, True, True)
    assert gizmos.links == {'platform_link'}
    gizmos.draw(robot, 0.05, replace(STYLE, move=False), shown='all')
    (node,), (ball,) = parts(scene)
    assert (node.disable_axes, node.disable_rotations, ball.visible) == (True, False, True)
    assert gizmos.links == set()


def test_goal_ball_follows_the_pointer(scene, gizmos):
    """A planar arm's in its plane, from wherever it is looked at; in steps if so wished."""
    arm = from_dh([(0, 0.4, 0, 0.3), (0, 0.4, 0, 0.3), (0, 0.4, 0, 0.3)])
    x, y, z = arm.add_goal('link3', name='tip', dof='X Y Z').matrix_world[:3, 3]
    gizmos.draw(arm, 0.05, STYLE, shown='all')
    _, (ball,) = parts(scene)
    pulled(ball, 'start', (x, y, z), (x, y, z))
    # Half way up to the eye the pointer's ray is half as far to the side.
    pulled(ball, 'update', (x, y, z), (0.5 * (x - 0.1), 0.5 * (y + 0.2), 4.5))
    np.testing.assert_allclose(gizmos.told[-1][1], (x - 0.1, y + 0.2, z), atol=1e-9)
    gizmos.draw(arm, 0.05, replace(STYLE, step=0.05), shown='all')
    pulled(ball, 'update', (x, y, z), (x - 0.1, y + 0.2, z))
    wanted = 0.05 * np.round((20 * (x - 0.1), 20 * (y + 0.2)))
    np.testing.assert_allclose(gizmos.told[-1][1], (*wanted, z), atol=1e-9)
    count = len(gizmos.told)
    # Beyond the horizon there is no such place.
    pulled(ball, 'update', (x, y, z), (x, y, 10.0), eye=(0.0, 0.0, 9.0))
    pulled(ball, 'end', (x, y, z), (x, y, z))
    assert len(gizmos.told) == count
    pulled(ball, 'start', (x, y, z), (x, y, z))
    assert gizmos.told[-1][3] == 'start'


def test_second_gizmo_shows_grid_position_during_drag(scene, gizmos, robot):
    """While it is dragged another one, on the grid, stands for it; at rest it is there itself."""
    style = HandleStyle(step=0.01)
    goal = robot.goals['platform']
    gizmos.draw(robot, 0.05, style, shown='all')
    (node,), _ = parts(scene)
    start = tuple(goal.matrix_world[:3, 3])
    before = time.monotonic()
    moved(node, 'start', start)
    moved(node, 'update', (0.0138, 0.0, start[2]))
    name, position, _, _ = gizmos.told[-1]
    assert (name, position[0]) == ('platform', pytest.approx(0.01))
    goal.set_position(*position)
    gizmos.draw(robot, 0.05, style, shown='all')
    held, copy = parts(scene)[0]
    assert held is node
    assert (held.opacity, held.position[0]) == (0.0, 0.0138)
    assert copy.position[0] == pytest.approx(0.01)
    assert not gizmos.settle(before)
    assert gizmos.settle(time.monotonic() + 2.0 * REST)
    gizmos.draw(robot, 0.05, style, shown='all')
    assert parts(scene)[0] == [node]
    assert (node.opacity, node.position[0]) == (1.0, pytest.approx(0.01))
    assert not gizmos.settle(time.monotonic() + 2.0 * REST)
    moved(node, 'update', (0.0262, 0.0, start[2]))  # it had only rested
    goal.set_position(*gizmos.told[-1][1])
    gizmos.draw(robot, 0.05, style, shown='all')
    assert parts(scene)[0][1].position[0] == pytest.approx(0.03)
    moved(node, 'end', (0.0262, 0.0, start[2]))
    gizmos.draw(robot, 0.05, style, shown='all')
    assert parts(scene)[0] == [node]


@pytest.mark.parametrize('how', ['hidden', 'removed', 'other'])
def test_grid_gizmo_disappears_with_goal_or_changed_axes(scene, gizmos, robot, how):
    """Hidden, removed or of other axes: nothing is left of it, and nothing is invisible."""
    style = HandleStyle(angle=0.1)
    gizmos.draw(robot, 0.05, style, shown='all')
    (node,), _ = parts(scene)
    moved(node, 'start', node.position)
    gizmos.draw(robot, 0.05, style, shown='all')
    assert len(parts(scene)[0]) == 2
    if how == 'hidden':
        gizmos.draw(robot, 0.05, style, shown='none')
        assert parts(scene)[0] == [node]
        assert node.opacity == 1.0
    elif how == 'removed':
        gizmos.clear()
        assert parts(scene) == [[], []]
    else:
        gizmos.draw(robot, 0.05, replace(style, turn=False), shown='all')
        assert len(parts(scene)[0]) == 1


def test_drag_without_grid_has_one_gizmo(scene, gizmos, robot):
    """A plain drag has one gizmo."""
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    (node,), _ = parts(scene)
    moved(node, 'start', node.position)
    gizmos.draw(robot, 0.05, STYLE, shown='all')
    assert parts(scene)[0] == [node]


def test_unselected_goal_has_a_ball_that_selects_it(scene, robot):
    """A click on the small ball, or a drag of it, selects its goal; then it has gizmos."""
    chosen = []
    gizmos = GoalGizmos(scene, lambda *_: None, chosen.append)
    robot.add_goal('leg0_rod_link', name='rod', dof='X Y Z')
    gizmos.draw(robot, 0.05, STYLE, 'selected', 'platform')
    shown = {node.name: node.visible for node in parts(scene)[0]}
    assert shown == {'/gizmos/platform': True, '/gizmos/rod': False}
    big, small = scene.nodes['/balls/platform'], scene.nodes['/balls/rod']
    assert small.visible
    assert small.scale < big.scale
    for work in small.clicks:
        asyncio.run(work(SimpleNamespace()))
    pulled(small, 'start', small.position, small.position)
    assert chosen == ['rod', 'rod']
    gizmos.draw(robot, 0.05, STYLE, 'selected', 'rod')
    assert scene.nodes['/gizmos/rod'].visible

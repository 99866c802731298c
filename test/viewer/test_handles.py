"""Handles of goals and of a load: where they are, and what a drag of them tells."""

import asyncio
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

from ik_node.robot import from_dh
from ik_node.scene import Arrow, Segment, Text
from ik_node.scene.look import Look
from ik_node.viewer.panels.goal_panel import HandleStyle
from ik_node.viewer.panels.load_panel import LoadArrow
from ik_node.viewer.sessions.library_session import gallery_session
from ik_node.viewer.stage.goal_handle import gizmos_for, GoalGizmos, handle_axes, plane_of
from ik_node.viewer.stage.load_handle import load_shapes, LoadHandle
import numpy as np
import pytest

FLAGS = list(product((False, True), repeat=3))


def test_gizmos_have_exactly_the_requested_axes():
    """The arrows and rings of all parts together, as viser draws them, are what is asked for."""
    for move, turn in product(FLAGS, FLAGS):
        arrows, rings = [], []
        for part in gizmos_for(move, turn):
            arrows += [at for at in range(3) if part.moves and part.axes[at]]
            others = [part.axes[:at] + part.axes[at + 1 :] for at in range(3)]
            rings += [at for at in range(3) if part.turns and all(others[at])]
            assert part.moves or part.turns
        assert sorted(arrows) == [at for at in range(3) if move[at]]
        assert sorted(rings) == [at for at in range(3) if turn[at]]


@pytest.fixture
def arm():
    return from_dh([(0.1, 0.4, 0.5, 0.3), (0.2, 0.4, -0.7, 0.3), (0, 0.4, 0.2, 0.3)])


@pytest.mark.parametrize(('axes', 'local'), [('world', True), ('goal', False), ('link', False)])
def test_partial_goal_uses_the_axes_of_its_constraint(arm, axes, local):
    goal = arm.add_goal('link3', dof='X Y', axes=axes)
    goal.set_quaternion(0.0, 0.6, 0.0, 0.8)
    wanted = {'world': np.eye(4), 'goal': goal.matrix_world, 'link': goal.child.matrix_world}
    found = handle_axes(goal, HandleStyle(local=local))
    np.testing.assert_allclose(found, wanted[axes][:3, :3], atol=1e-12)


STYLE = HandleStyle()
HALF = np.sqrt(0.5)


@pytest.fixture
def robot():
    return gallery_session('hexapod').robot


@pytest.fixture
def gizmos(scene):
    """Return handles that remember what was dragged, and the scene they are in."""
    told = []
    gizmos = GoalGizmos(scene, lambda *what: told.append(what))
    gizmos.told = told
    return gizmos


def parts(scene):
    nodes = list(scene.nodes.values())
    return [[node for node in nodes if node.kind == kind] for kind in ('gizmo', 'ball')]


def moved(node, phase, position, wxyz=(1.0, 0.0, 0.0, 0.0), client=1):
    node.position, node.wxyz = position, wxyz
    event = SimpleNamespace(phase=phase, target=node, client_id=client)
    for work in node.clicks:
        asyncio.run(work(event))


def pulled(node, phase, start, end, eye=(0.0, 0.0, 9.0)):
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
    assert [*scene.nodes] == ['/invitation']


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


def test_first_drag_is_invited_until_it_is_done(scene, robot, gizmos):
    """The label asks for a goal, then names the selected one, and never comes again."""
    goal = robot.goals.pop('platform')
    gizmos.draw(robot, 0.05, STYLE, 'selected', '', (0.1, 0.2, 0.0))
    label = scene.nodes['/invitation']
    assert (label.text, label.visible) == ('click a link to make a goal', True)
    assert label.position == (0.1, 0.2, 0.0)
    robot.goals['platform'] = goal
    robot.add_goal('leg0_rod_link', name='left_rod', dof='X Y Z')
    gizmos.draw(robot, 0.05, STYLE, 'selected', 'platform')
    assert (label.text, label.visible) == ('drag the platform', True)
    gizmos.draw(robot, 0.05, STYLE, 'selected', 'left_rod')
    assert label.text == 'drag the left rod'
    gizmos.draw(robot, 0.05, STYLE, 'none', 'left_rod')
    assert not label.visible
    gizmos.draw(robot, 0.05, STYLE, 'selected', 'platform', invites=False)
    assert not label.visible
    gizmos.draw(robot, 0.05, STYLE, 'selected', 'platform')
    assert label.visible
    moved(scene.nodes['/gizmos/platform'], 'start', (0.0, 0.0, 0.2))
    gizmos.draw(robot, 0.05, STYLE, 'selected', 'platform')
    assert not label.visible
    gizmos.clear()
    gizmos.draw(robot, 0.05, STYLE, 'selected', 'platform')
    assert not label.visible


@pytest.mark.parametrize(
    ('name', 'goal', 'normal'),
    [
        ('fivebar', 'tool', 2),
        ('ccd_arm', 'tip', 2),
        ('gripper', 'grip', 1),
        ('hexapod', 'platform', None),
    ],
)
def test_plane_of_planar_robots_is_found(name, goal, normal):
    robot = gallery_session(name).robot
    plane = plane_of(robot, robot.goals[goal])
    if normal is None:
        assert plane is None
        return
    np.testing.assert_allclose(plane.T @ plane, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(plane[normal], 0.0, atol=1e-9)


def test_goal_on_line_or_moving_link_has_no_plane():
    """What slides along a line, or is counted in a link that moves, is dragged in space."""
    arm = from_dh([(0, 0.4, 0, 0.3), (0, 0.4, 0, 0.3)])
    assert plane_of(arm, arm.add_goal('link2', name='a')) is not None
    assert plane_of(arm, arm.add_goal('link2', name='b', base='link1')) is None
    assert plane_of(arm, arm.add_goal('link2', name='c', kind='look_at')) is None
    alone = gallery_session('scissor_lift').robot
    still = alone.add_goal(alone.description.root.name, name='still')
    assert plane_of(alone, still) is None


LEVEL = (0.0, -9.0, 0.0)
ARROW = LoadArrow('tool', np.zeros(3), np.array((0.0, 0.0, 1.0)), '1 N')


@pytest.fixture
def handle(scene):
    told = []
    handle = LoadHandle(scene, lambda *what: told.append(what))
    handle.told = told
    return handle


@pytest.mark.parametrize(('part', 'end'), [('force', (0.0, 0.0, 1.0)), ('point', (0.0, 0.0, 0.0))])
def test_end_of_the_arrow_follows_the_pointer(scene, handle, part, end):
    handle.draw(ARROW, 0.2, None)
    ball = scene.nodes[f'/load_handles/{part}']
    pulled(ball, 'start', (0.01, 0.0, 0.5), None, LEVEL)
    pulled(ball, 'update', None, (0.31, 0.0, 0.4), LEVEL)
    ((told, place),) = handle.told
    assert told == part
    np.testing.assert_allclose(place, np.add(end, (0.3, 0.0, -0.1)))


LOOK = Look(scale=0.4)
POINT = np.array((0.1, -0.2, 0.3))
TOWARDS = np.array((2.0, -1.0, 2.0)) / 3.0


def test_arrow_leads_from_the_point_of_application_to_its_handle():
    """Its tip is just before the end, where the handle is; the text is beyond."""
    end = POINT + 0.7 * TOWARDS
    shaft, head, text = load_shapes(LoadArrow('tool', POINT, end, '70 N'), LOOK)
    assert (type(shaft), type(head), type(text)) == (Segment, Arrow, Text)
    assert {shape.of for shape in (shaft, head, text)} == {'tool'}
    np.testing.assert_allclose(shaft.start, POINT, atol=1e-12)
    assert (end - head.end) @ TOWARDS == pytest.approx(0.06 * 0.4)
    assert (shaft.end - np.array(head.position)) @ TOWARDS > 0.0
    assert (text.position - end) @ TOWARDS > 0.0
    assert text.text == '70 N'

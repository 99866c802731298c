"""A robot solved on the page: what can be asked of it, and what becomes of it."""

from ik_node.errors import OptionError, UnknownFrameError
from ik_node.gallery import gallery_item
from ik_node.model.bodies import Box
from ik_node.model.rotation import matrix_to_quat
from ik_node.model.user_goal import UserGoal
from ik_node.robot import load_robot
from ik_node.viewer.sessions.goal_memory import axes_of
from ik_node.viewer.sessions.library_session import gallery_session, LibrarySession
from ik_node.viewer.sessions.session import Undo
from ik_node.viewer.stage.goal_handle import constrained_axes
import numpy as np
import pytest
from support.fourbar_urdf import TURNED


@pytest.fixture
def hexapod():
    session = gallery_session('hexapod')
    assert session.update(0.0)
    return session


def lift(session, name, height):
    pose = session.robot.goals[name].matrix_world.copy()
    pose[2, 3] += height
    session.move_goal(name, pose[:3, 3], matrix_to_quat(pose))
    return pose


def gap(session):
    return max(
        np.abs(np.concatenate(closure.get_closure_error())).max()
        if closure.name.endswith('weld')
        else np.linalg.norm(closure.get_closure_error()[0])
        for closure in session.robot.closures.values()
    )


def test_robot_follows_a_dragged_goal(hexapod):
    """Loops stay closed, and the report says what is met; without a wish nothing is solved."""
    assert not hexapod.update(0.1)
    wanted = lift(hexapod, 'platform', 0.006)
    assert hexapod.update(0.0)
    reached = hexapod.robot.links['platform_link'].matrix_world
    np.testing.assert_allclose(reached, wanted, atol=2e-6)
    assert gap(hexapod) < 1e-6
    (report,) = hexapod.reports
    assert (report.status, report.name) == ('CONVERGED', 'platform')
    assert report.residual <= 1e-6
    assert len(report.closure_errors) == 6
    lift(hexapod, 'platform', 0.5)
    hexapod.update(0.0)
    (report,) = hexapod.reports
    assert report.status != 'CONVERGED'
    assert 'platform' in report.message
    assert report.residual > 0.1
    assert gap(hexapod) < 1e-6


def test_a_slider_moves_a_loop_that_closes_only_up_to_rounding():
    """The joint goes where the slider is and stays there, and the loop is told as closed."""
    robot = load_robot(TURNED.format(quarter='1.5708', half='3.1416', kind='hinge'))
    session = LibrarySession(robot)
    session.update(0.0)
    session.set_forward(True)
    for value in (0.5, -1.0):
        session.set_joint('crank', value)
        for now in range(3):
            session.update(float(now))
        assert session.q[robot.joint_names.index('crank')] == pytest.approx(value, abs=1e-9)
        assert {report.status for report in session.reports} == {'CONVERGED'}
        assert gap(session) < 1e-4


def test_goal_is_added_at_its_link_and_removed(hexapod):
    """A goal is made where its link is, gets a name of its own, and can be taken away."""
    before, q = hexapod.structure, hexapod.q
    first = hexapod.add_goal('leg0_rod_link', 'X Y Z')
    second = hexapod.add_goal('leg0_rod_link', 'Z')
    assert (first, second) == ('leg0_rod_link', 'leg0_rod_link_2')
    assert axes_of(hexapod.robot.goals[second]) == 'Z'
    assert hexapod.structure > before
    hexapod.update(0.0)
    np.testing.assert_allclose(hexapod.q, q, atol=1e-9)
    rod = hexapod.robot.links['leg0_rod_link'].matrix_world
    at = rod[:3, 3] + (0.01, 0.02, 0.03)
    third = hexapod.robot.goals[hexapod.add_goal('leg0_rod_link', 'X Y Z', at)]
    np.testing.assert_allclose(third.matrix_world[:3, 3], at, atol=1e-12)
    np.testing.assert_allclose(third.matrix_world[:3, :3], rod[:3, :3], atol=1e-12)
    hexapod.update(0.0)
    np.testing.assert_allclose(hexapod.q, q, atol=1e-9)
    hexapod.remove_goal(third.name)
    hexapod.remove_goal(first)
    assert list(hexapod.robot.goals) == ['platform', second]
    with pytest.raises(UnknownFrameError, match='leg0_rod_link'):
        hexapod.remove_goal(first)


def test_undone_steps_bring_back_goals_and_joints(hexapod):
    """What was remembered comes back: poses, axes, goals that were deleted, joint values."""
    memory, q = hexapod.remember(), hexapod.q
    home = hexapod.robot.goals['platform'].matrix_world.copy()
    lift(hexapod, 'platform', 0.006)
    hexapod.change_goal('platform', dof='X Y Z')
    hexapod.update(0.0)
    hexapod.remove_goal('platform')
    hexapod.add_goal('base_link', 'X')
    hexapod.restore(memory)
    hexapod.update(0.0)
    assert list(hexapod.robot.goals) == ['platform']
    assert axes_of(hexapod.robot.goals['platform']) == 'X Y Z EX EY EZ'
    np.testing.assert_allclose(hexapod.robot.goals['platform'].matrix_world, home, atol=1e-12)
    np.testing.assert_allclose(hexapod.q, q, atol=1e-9)


def test_locked_joint_stays_while_the_goal_moves(hexapod):
    """The goal is not met then; undo unlocks the joint."""
    memory, at = hexapod.remember(), hexapod.robot.joint_names.index('leg2')
    hexapod.set_locked('leg2', True)
    assert hexapod.locked == {'leg2'}
    lift(hexapod, 'platform', 0.006)
    hexapod.update(0.0)
    assert hexapod.q[at] == memory.q[at]
    assert hexapod.reports[0].status == 'STALLED'
    hexapod.restore(memory)
    assert not hexapod.locked


@pytest.mark.parametrize('kind', ['look_at', 'distance', 'cylinder', 'frame'])
def test_undo_restores_goals_of_any_kind(hexapod, kind):
    goal = hexapod.robot.add_goal('platform_link', name='extra', kind=kind, base='base_link')
    goal.weight, goal.priority, goal.tolerance = 0.5, 2, (1e-4, 1e-3)
    memory = hexapod.remember()
    hexapod.remove_goal('extra')
    hexapod.restore(memory)
    again = hexapod.robot.goals['extra']
    assert again is not goal
    assert (again.kind, again.weight, again.priority) == (kind, 0.5, 2)
    assert again.tolerance == (1e-4, 1e-3)
    assert again.parent is goal.parent or again.parent.name == 'base_link'
    assert again.distance == goal.distance
    np.testing.assert_allclose(again.get_residual(), 0.0, atol=1e-9)


class Height(UserGoal):
    """The platform is 1 mm higher than at first."""

    links = ('platform_link',)
    height = 0.089

    def residual(self, frames):
        return frames['platform_link'][2, 3] - self.height


def test_page_solves_and_restores_a_goal_of_a_user(hexapod):
    """It takes part beside the goals of the page, and undo brings back the same object."""
    hexapod.remove_goal('platform')
    goal = hexapod.robot.add_goal(Height('height'), weight=0.5)
    hexapod.update(0.0)
    assert abs(goal.get_residual()[0]) < 1e-6
    assert constrained_axes(goal) == ((True,) * 3, (False,) * 3)
    memory = hexapod.remember()
    hexapod.remove_goal('height')
    hexapod.restore(memory)
    assert hexapod.robot.goals['height'] is goal
    assert goal.weight == 0.5
    hexapod.update(0.0)


def test_sliders_move_motors_with_loops_closed(hexapod):
    """In FK motors go where they are told, the others hold, and goals come along."""
    with pytest.raises(OptionError, match='solve from joints'):
        hexapod.set_joint('leg0', 0.004)
    hexapod.set_forward(True)
    wanted = dict.fromkeys((f'leg{number}' for number in range(6)), 0.0)
    for moved in ({'leg0': 0.004}, {'leg0': 0.003, 'leg3': -0.002}):
        for name, value in moved.items():
            hexapod.set_joint(name, value)
        hexapod.update(0.0)
        values = dict(zip(hexapod.robot.joint_names, hexapod.q.tolist(), strict=True))
        motors = {name: values[name] for name in wanted}
        assert motors == pytest.approx({**wanted, **moved}, abs=1e-9)
        assert gap(hexapod) < 1e-6
    goal, link = hexapod.robot.goals['platform'], hexapod.robot.links['platform_link']
    np.testing.assert_allclose(goal.matrix_world, link.matrix_world, atol=1e-12)
    before = hexapod.q
    hexapod.set_forward(False)
    hexapod.update(0.0)
    np.testing.assert_allclose(hexapod.q, before, atol=1e-7)


def test_released_loop_closes_again(hexapod):
    hexapod.set_closure('leg0_ball', False)
    lift(hexapod, 'platform', 0.01)
    hexapod.update(0.0)
    assert np.linalg.norm(hexapod.robot.closures['leg0_ball'].get_closure_error()[0]) > 1e-3
    hexapod.set_closure('leg0_ball', True)
    hexapod.update(0.0)
    assert gap(hexapod) < 1e-6
    memory = hexapod.remember()
    hexapod.set_closure('leg0_ball', False)
    hexapod.restore(memory)
    assert hexapod.robot.closures['leg0_ball'].enabled
    hexapod.set_closure('leg1_ball', False)
    hexapod.reset()
    assert all(closure.enabled for closure in hexapod.robot.closures.values())
    with pytest.raises(UnknownFrameError, match='leg9'):
        hexapod.set_closure('leg9', True)


@pytest.mark.parametrize('name', ['delta', 'rocker_bogie', 'humanoid', 'hexapod_tilt'])
def test_gallery_motion_moves_goals_until_paused(name):
    """Goals follow the motion while it plays, every solve converges, and a pause holds them."""
    session = gallery_session(name)
    session.update(0.0)
    still = session.q
    assert session.can_play
    session.playing = True
    for step in range(1, 60):
        assert session.update(0.05 * step)
        converged = {report.status for report in session.reports} == {'CONVERGED'}
        assert converged or not gallery_item(name).reachable
    assert np.abs(session.q - still).max() > 1e-3
    session.playing = False
    session.update(3.0)
    held = session.q
    session.update(4.0)
    np.testing.assert_array_equal(session.q, held)
    session.playing = True
    session.update(4.05)
    # It goes on where it was, not where it would be by now; wheels turn by 0.2 rad in 0.05 s.
    assert np.abs(session.q - held).max() < 0.25


def test_solving_goes_on_after_the_limit_of_iterations(hexapod):
    """A solve of one step per update reaches its goal in later updates, then rests."""
    hexapod.set_option('max_iterations', 1)
    wanted = lift(hexapod, 'platform', 0.006)
    assert hexapod.update(1.0)
    assert hexapod.reports[0].status == 'TIMEOUT'
    updates = 1
    while hexapod.update(1.0 + updates):
        updates += 1
        assert updates < 50
    assert updates > 1
    reached = hexapod.robot.links['platform_link'].matrix_world
    np.testing.assert_allclose(reached, wanted, atol=2e-6)


def test_robot_waits_while_solving_is_off(hexapod):
    before = hexapod.q
    hexapod.solving = False
    wanted = lift(hexapod, 'platform', 0.006)
    assert hexapod.update(1.0)
    np.testing.assert_array_equal(hexapod.q, before)
    assert not hexapod.update(2.0)
    hexapod.solving = True
    hexapod.update(3.0)
    reached = hexapod.robot.links['platform_link'].matrix_world
    np.testing.assert_allclose(reached, wanted, atol=2e-6)


def test_strict_session_keeps_the_last_converged_configuration(hexapod):
    """A goal out of reach moves nothing, but the report says so; without strict, it does."""
    before = hexapod.q
    hexapod.strict = True
    lift(hexapod, 'platform', 0.1)
    hexapod.update(1.0)
    np.testing.assert_array_equal(hexapod.q, before)
    assert hexapod.reports[0].status != 'CONVERGED'
    hexapod.strict = False
    hexapod.update(2.0)
    assert np.abs(hexapod.q - before).max() > 1e-3


def test_wheels_stand_on_the_ground_wherever_the_rover_is_dragged():
    """On bumps of any height: every wheel's centre is a radius above the ground below it."""
    session = gallery_session('rocker_bogie')
    item = gallery_item('rocker_bogie')
    session.update(0.0)

    def errors():
        ground = session.ground
        return [
            session.robot.links[item.goals[goal]].matrix_world[2, 3]
            - up
            - ground(*session.robot.links[item.goals[goal]].matrix_world[:2, 3])
            for goal, up in item.standing.items()
        ]

    for x, y, scale in ((1.0, 0.3, 1.0), (2.0, 0.6, 1.0), (2.0, 0.6, 1.6), (2.0, 0.6, 0.0)):
        session.set_knob('terrain height', scale)
        session.move_goal('chassis', (x, y, 0.0), (0.0, 0.0, 0.2, 0.98))
        for now in range(6):
            session.update(float(now))
        np.testing.assert_allclose(errors(), 0.0, atol=2e-4)
        heights = [
            session.robot.links[item.goals[goal]].matrix_world[2, 3] for goal in item.standing
        ]
        assert np.ptp(heights) > 0.05 if scale else np.ptp(heights) < 1e-3
    session.reset()
    assert session.knobs[0].value == 1.0


def test_base_tilts_under_a_platform_that_stays():
    """By its slider, by its motion, and no more after a reset; other numbers are refused."""
    session = gallery_session('hexapod_tilt')
    session.update(0.0)
    home = session.robot.links['platform_link'].matrix_world.copy()

    def tilt():
        session.update(0.0)
        assert session.reports[0].status == 'CONVERGED'
        platform = session.robot.links['platform_link'].matrix_world
        np.testing.assert_allclose(platform, home, atol=3e-6)
        return float(np.arccos(session.robot.links['base_link'].matrix_world[2, 2]))

    session.set_knob('base tilt [deg]', -15.0)
    assert tilt() == pytest.approx(np.radians(15.0))
    session.reset()
    assert tilt() == pytest.approx(0.0, abs=1e-7)
    session.playing = True
    for now in np.arange(0.0, 2.0, 0.05).tolist():
        session.update(now)
    session.playing = False
    assert tilt() == pytest.approx(0.3, abs=1e-6)
    with pytest.raises(OptionError, match='knob'):
        session.set_knob('terrain height', 1.0)
    assert gallery_session('hexapod').knobs == []


class Thing:
    """Something that changes."""

    def __init__(self):
        self.value = 0
        self.undo = Undo(lambda: self.value, lambda value: setattr(self, 'value', value))

    def change(self, value, **how):
        """Change it so that it can be undone."""
        self.undo.mark(**how)
        self.value = value


def test_one_sweep_of_a_slider_is_one_step():
    """Changes of one key in quick succession count as one; those after a pause do not."""
    thing = Thing()
    for number in range(5):
        thing.change(1 + number, key='joint', now=0.5 * number)
    thing.change(10, key='other', now=2.1)
    thing.change(20, key='other', now=9.0)
    assert len(thing.undo._steps) == 3
    for value in (10, 5, 0, 0):
        thing.undo.step_back()
        assert thing.value == value


def test_goal_dragged_through_a_thin_wall_stops_before_it():
    """The body stays on its side of a wall of 5 mm, in one step or in many, and is named."""
    robot = load_robot('arm_at_shelf')
    robot.collisions.add_obstacle(Box((2.0, 0.005, 2.0)), (0.0, 0.3, 0.5), 'wall')
    robot.add_goal('tool_link', name='tool', dof='X Y Z')
    start = robot.forward(robot.q, 'tool_link')[:3, 3]
    for steps in (150, 1):
        session = LibrarySession(robot)
        for step in range(1, steps + 1):
            session.move_goal(
                'tool', start + np.array((0.0, 0.6 * step / steps, 0.0)), (0, 0, 0, 1)
            )
            session.update(0.0)
            assert robot.forward(session.q, 'tool_link')[1, 3] < 0.3
            assert not robot.collisions.contacts(session.q)
        assert session.reports[0].status == 'STALLED'
        session.reset()
    session.move_goal('tool', start + np.array((0.0, 0.35, 0.0)), (0, 0, 0, 1))
    assert sum(session.update(0.0) for _ in range(500)) < 500
    assert 'wall' in session.reports[0].nearest.pair
    assert session.reports[0].nearest.d < 1e-5

"""A running node seen from another process: what is shown, and what it can be asked."""

import time
from types import SimpleNamespace

import ik_node as ik
from ik_node.errors import IkError, OptionError, UnknownFrameError
from ik_node.model.rotation import matrix_to_quat
from ik_node.ros_client.session import open_view, released_of, reports_of
from ik_node.scene import IKRootsHelper
from ik_node.scene.look import IN_CONTACT
import numpy as np
import pytest

GOAL = ('-p', 'goal_names:=[platform]', '-p', 'goals.platform.link:=platform_link')


def message(text, **values):
    pairs = [SimpleNamespace(key=key, value=value) for key, value in values.items()]
    status = SimpleNamespace(name='ik_node: hand, foot', message=text, values=pairs)
    return SimpleNamespace(status=[status])


def test_report_has_residuals_by_name():
    values = {
        'iterations': '7',
        'solve_time': '0.00125',
        'goal.hand.position': '0.002',
        'goal.hand.orientation': '0.5',
        'closure.a.position.position': '1e-9',
        'closure.a.position.orientation': '2e-9',
        'active_limits': 'knee',
    }
    (report,) = reports_of(message('STALLED: no step helps; goal hand', **values))
    assert report.name == 'hand, foot'
    assert (report.status, report.message) == ('STALLED', 'STALLED: no step helps; goal hand')
    assert (report.iterations, report.solve_time) == (7, 0.00125)
    assert report.goal_errors == {'hand': (0.002, 0.5)}
    assert report.closure_errors == {'a.position': (1e-9, 2e-9)}
    assert report.residual == 0.5


def test_closure_without_residual_is_released():
    closures = ('a.b', 'c')
    held = {'iterations': '2', 'closure.a.b.position': '0', 'closure.a.b.orientation': '0'}
    assert released_of(message('STALLED', **held), closures) == {'c'}
    whole = message('CONVERGED', **held, **{'closure.c.position': '0'})
    assert released_of(whole, closures) == set()
    assert released_of(message('CONVERGED: no goal and no loop; a note'), closures) == {'a.b', 'c'}
    assert released_of(message('not solved: no measured joint states'), closures) is None
    assert released_of(SimpleNamespace(status=[]), closures) is None


class View:
    """A session that is looked at as the page does."""

    def __init__(self, graph, name='ik_node', *words):
        self.graph = graph
        self.session = open_view(['view', *words], name)
        self.said = []

    def until(self, condition, what):
        def look():
            self.session.update(time.monotonic())
            self.said += self.session.complaints()
            return condition(self.session)

        try:
            return self.graph.wait(look, what)
        except pytest.fail.Exception as failure:
            pytest.fail(f'{failure}\nthe view says {self.session.note!r}, {self.said}')

    def link(self, name):
        return self.session.robot.links[name].matrix_world.copy()

    def value(self, joint):
        return float(self.session.q[self.session.robot.joint_names.index(joint)])

    def moved(self, goal, shift):
        wanted = self.session.robot.goals[goal].matrix_world.copy()
        wanted[:3, 3] += shift
        self.session.move_goal(goal, wanted[:3, 3], (0.0, 0.0, 0.0, 1.0))
        return wanted


@pytest.fixture
def view(graph):
    made = View(graph)
    yield made
    made.session.close()


def test_note_names_what_the_page_waits_for(graph, urdf, view):
    """It is the node, then its robot, then its joint states, also after a restart."""
    view.until(lambda s: 'waiting for the node /ik_node' in s.note, 'a note on the node')
    graph.knows(urdf('hexapod'))
    graph.start_node(*GOAL)
    view.until(lambda s: s.note == 'waiting for robot_description', 'a note on the robot')
    graph.describe(urdf('hexapod'))
    view.until(lambda s: s.robot is not None and not s.note, 'the robot')
    view.moved('platform', (0.0, 0.0, 0.005))
    view.until(lambda s: view.link('platform_link')[2, 3] > 0.0925, 'it to rise')
    view.session.set_forward(True)
    graph.end('node')
    view.until(lambda s: 'is it running?' in s.note, 'a note on silence')
    view.session.reset()
    view.until(lambda s: any('no service' in text for text in view.said), 'a complaint')
    graph.start_node(*GOAL, '-p', 'solver.max_iterations:=55')
    view.until(lambda s: not s.note and s.options.max_iterations == 55, 'the node again')
    assert not view.session.forward
    # The new one has not heard of any goal.
    view.until(lambda s: abs(view.link('platform_link')[2, 3] - 0.088326) < 1e-6, 'the start')
    shown = view.session.robot.goals['platform'].matrix_world
    np.testing.assert_allclose(shown, view.link('platform_link'), atol=1e-9)


def test_description_that_names_a_file_is_not_read(graph, tmp_path, view):
    (tmp_path / 'arm.xacro').write_text('<robot name="${1 + 1}"><link name="a"/></robot>')
    graph.start_node(*GOAL)
    for text, said in (
        (str(tmp_path / 'arm.xacro'), 'a robot description begins with <'),
        ('<robot><xacro:a/></robot>', 'a text is not expanded'),
    ):
        graph.describe(text)
        view.until(lambda s, said=said: said in s.note, said)


def test_node_in_a_namespace_is_found_by_its_full_name(graph, urdf):
    from ik_node.ros.process import LATCHED
    from std_msgs.msg import String

    space = ('-r', '__ns:=/cell', '-r', '__node:=left_ik')
    graph.start('left', 'ik_node', 'node', '--ros-args', *space)
    graph.start('other', 'ik_node', 'node', '--ros-args', '-p', 'rate:=20.0')
    graph.publish(String, '/cell/robot_description', String(data=urdf('fivebar')), LATCHED)
    graph.describe(urdf('hexapod'))
    view = View(graph, '/cell/left_ik')
    try:
        view.until(lambda s: s.robot is not None and not s.note, 'the robot')
        assert view.session.title == 'fivebar on /cell/left_ik'
        assert view.session.robot.goals == {}
    finally:
        view.session.close()


def test_session_works_with_remapping_and_simulated_time(graph, urdf):
    from rosgraph_msgs.msg import Clock

    rule = ('-r', 'ik_node/joint_states:=/moved/joint_states')
    own = ('-r', '~/joint_states:=/moved/joint_states')
    sim = ('-p', 'use_sim_time:=true')
    graph.start('node', 'ik_node', 'node', '--ros-args', *own, *sim, *GOAL)
    graph.describe(urdf('hexapod'))
    view = View(graph, 'ik_node', '--ros-args', *rule, *sim)
    clock = graph.client.create_publisher(Clock, '/clock', 10)
    tick = Clock()

    def on(condition):
        def look(session):
            tick.clock.nanosec += 20_000_000
            tick.clock.sec += tick.clock.nanosec // 1_000_000_000
            tick.clock.nanosec %= 1_000_000_000
            clock.publish(tick)
            return condition(session)

        return look

    try:
        # Parameters and description come although no time does.
        view.until(lambda s: s.robot is not None, 'the robot without a clock')
        view.until(on(lambda s: s.reports and not s.note), 'joint states')
        wanted = view.moved('platform', (0.0, 0.0, 0.004))
        view.until(
            on(lambda s: np.allclose(view.link('platform_link'), wanted, atol=1e-5)), 'the goal'
        )
    finally:
        view.session.close()


def test_click_on_a_ghost_moves_the_node_to_that_solution(graph, urdf, view):
    """The goals rest on the way and lead again there; undo goes back; a goal ends the ghosts."""
    words = '-p', 'goal_names:=[tool]', '-p', 'goals.tool.link:=tool_link'
    graph.knows(urdf('arm6'))
    graph.start_node(*words)
    graph.describe(urdf('arm6'))
    session = view.session
    view.until(lambda s: s.robot is not None and s.reports and not s.note, 'the robot')
    bent = session.robot.q + np.array((0.2, 0.3, -0.5, 0.2, 0.5, 0.1))
    here = session.robot.forward(bent, 'tool_link')
    session.move_goal('tool', here[:3, 3], matrix_to_quat(here))
    view.until(lambda s: np.allclose(view.link('tool_link'), here, atol=1e-5), 'the goal')
    session.find_solutions()
    found, start = session.solutions, session.q.copy()
    assert len(found) > 2
    apart = np.abs(found.q - start).max(axis=1)

    def rests_at(q):
        view.until(
            lambda s: np.allclose(s.q, q, atol=1e-5) and s.robot.goals['tool'].enabled,
            'the goals to lead there',
        )
        np.testing.assert_allclose(session.robot.goals['tool'].matrix_world, here, atol=1e-9)
        assert session.solutions is found
        assert not session.forward

    for number in np.argsort(apart)[-2:].tolist():
        before = session.remember()
        session.take_solution(number)
        rests_at(found.q[number])
    session.restore(before)
    rests_at(before.q)
    view.moved('tool', (0.0, 0.0, 0.02))
    view.until(lambda s: s.solutions is None, 'the end of the ghosts')
    session.set_locked('j3', True)
    view.until(lambda s: s.locked == {'j3'}, 'the lock')
    session.find_solutions()
    assert np.ptp(session.solutions.q[:, session.robot.joint_names.index('j3')]) < 1e-9


# -- one node for all tests from here on


@pytest.fixture(scope='module')
def shown(lasting_graph, urdf):
    """Provide a view of a hexapod."""
    made = View(lasting_graph)
    lasting_graph.knows(urdf('hexapod'))
    lasting_graph.start_node(*GOAL)
    lasting_graph.describe(urdf('hexapod'))
    made.until(lambda s: s.robot is not None and s.reports and not s.note, 'the robot')
    yield made
    made.session.close()


@pytest.fixture
def hexapod(shown):
    """Begin with one goal that leads, at the start."""
    session = shown.session
    session.set_forward(False)
    shown.until(lambda s: list(s.robot.goals) == ['platform'], 'one goal')
    # Parameters that an undo of the test before has sent may still be under way.
    shown.until(
        lambda s: s.robot.goals['platform'].enabled or s.change_goal('platform', enabled=True),
        'goals to lead',
    )
    home = session.robot.forward(0.0 * session.q, 'platform_link')[:3, 3]
    session.move_goal('platform', home, (0.0, 0.0, 0.0, 1.0))
    shown.until(lambda s: np.abs(s.q).max() < 1e-5, 'the start')
    shown.said.clear()
    return shown


def test_session_shows_the_joint_states_of_the_node(hexapod):
    session = hexapod.session
    assert list(session.robot.goals) == ['platform']
    assert 'hexapod' in session.title
    wanted = hexapod.moved('platform', (0.004, 0.0, 0.003))
    hexapod.until(lambda s: abs(hexapod.link('platform_link')[0, 3] - wanted[0, 3]) < 1e-6, 'it')
    np.testing.assert_allclose(hexapod.link('platform_link'), wanted, atol=2e-6)

    def says_the_same(_):
        last = hexapod.graph.joint_states[-1]
        return all(
            abs(hexapod.value(name) - value) < 1e-12
            for name, value in zip(last.name, last.position, strict=True)
        )

    hexapod.graph.spin(5)
    hexapod.until(says_the_same, 'the joint states')
    (report,) = hexapod.until(
        lambda s: s.reports if s.reports[0].goal_errors else None, 'a report on the goal'
    )
    assert report.status == 'CONVERGED'
    assert len(report.closure_errors) == 6


def test_goals_of_other_clients_are_shown(hexapod):
    x, y, z = hexapod.link('platform_link')[:3, 3]
    for frame, height in (('', 0.003), ('base_link', 0.005)):
        hexapod.graph.send_goal('platform', (x, y, z + height), frame=frame)
        hexapod.until(
            lambda s, wanted=z + height: (
                s.robot.goals['platform'].matrix_world[2, 3] == pytest.approx(wanted, abs=1e-9)
            ),
            'the goal',
        )


def test_goals_can_be_added_and_removed(hexapod):
    session = hexapod.session
    structure = session.structure
    name = session.add_goal('leg0_rod_link', 'X Y Z')
    hexapod.until(lambda s: name in s.robot.goals and s.structure > structure, 'the goal')
    assert [dof.name for dof in session.robot.goals[name].dof] == ['X', 'Y', 'Z']
    memory = session.remember()
    session.change_goal(name, dof='Z', enabled=False)
    hexapod.until(
        lambda s: len(s.robot.goals[name].dof) == 1 and not s.robot.goals[name].enabled, 'a change'
    )
    session.remove_goal(name)
    hexapod.until(lambda s: list(s.robot.goals) == ['platform'], 'its end')
    session.restore(memory)
    hexapod.until(lambda s: name in s.robot.goals, 'it to be back')
    at = hexapod.link('platform_link')[:3, 3] + (0.01, 0.0, 0.005)
    there = session.add_goal('platform_link', 'X Y Z', at)
    hexapod.until(
        lambda s: (
            there in s.robot.goals
            and np.allclose(s.robot.goals[there].matrix_world[:3, 3], at, atol=1e-5)
        ),
        'a goal at a point of its link',
    )
    with pytest.raises(UnknownFrameError, match='nobody'):
        session.move_goal('nobody', (0, 0, 0), (0, 0, 0, 1))
    memory = session.remember()
    session.restore(memory._replace(goals=memory.goals[:1]))


def test_obstacles_of_the_node_are_around_the_robot(tmp_path, hexapod):
    """The page draws those of the file and of the topic, where the node has put them."""
    from visualization_msgs.msg import Marker, MarkerArray

    path = tmp_path / 'obstacles.yaml'
    shapes = 'table: {box: [1, 1, 0.1], xyz: [3, 0, 0]}, wall: {half_space: , xyz: [9, 0, 0]}'
    path.write_text(f'obstacles: {{{shapes}, cone: {{cone: [0.1, 0.2], xyz: [5, 0, 0]}}}}')
    around = hexapod.session.robot.collisions
    assert around.obstacles == []
    ball = Marker(ns='a', id=7, type=Marker.SPHERE)
    ball.header.frame_id = 'platform_link'
    ball.scale.x = ball.scale.y = ball.scale.z = 0.2
    ball.pose.position.z = 2.0
    hexapod.graph.publish(MarkerArray, 'ik_node/obstacles', MarkerArray(markers=[ball]))
    hexapod.until(lambda s: around.obstacles == ['a/7'], 'the ball')
    assert around.obstacle('a/7').shape == ik.Sphere(0.1)
    height = hexapod.link('platform_link')[2, 3] + 2.0
    assert around.obstacle('a/7').matrix[2, 3] == pytest.approx(height, abs=1e-3)
    assert hexapod.graph.set_parameters(collisions__obstacles_file=str(path)) == ''
    hexapod.until(lambda s: {*around.obstacles} == {'table', 'wall', 'cone', 'a/7'}, 'the file')
    assert around.obstacle('table').shape == ik.Box((1.0, 1.0, 0.1))
    assert hexapod.graph.set_parameters(collisions__margin=0.02) == ''
    hexapod.until(lambda s: s.source.options.collision_margin == 0.02, 'the margin of the marks')
    assert hexapod.graph.set_parameters(collisions__obstacles_file='') == ''
    ball.action = Marker.DELETEALL
    hexapod.graph.publish(MarkerArray, 'ik_node/obstacles', MarkerArray(markers=[ball]))
    hexapod.until(lambda s: around.obstacles == [], 'no obstacles')


def test_locked_joint_reaches_the_node(hexapod):
    """And undo unlocks it."""
    session = hexapod.session
    memory = session.remember()
    session.set_locked('leg2', True)
    hexapod.until(lambda s: s.locked == {'leg2'}, 'the lock')
    session.restore(memory)
    hexapod.until(lambda s: not s.locked, 'its end')


def test_options_set_the_parameters_of_the_node(hexapod):
    session = hexapod.session
    assert session.options.restarts == 0
    session.set_option('max_iterations', 77)
    hexapod.until(lambda s: s.options.max_iterations == 77, 'the parameter')
    with pytest.raises(OptionError, match='max_iterations'):
        session.set_option('max_iterations', 0)
    # A goal that is asked for out of reach stays there, whatever else changes.
    structure = session.structure
    wanted = hexapod.moved('platform', (0.0, 0.0, 0.5))
    hexapod.until(lambda s: s.reports[0].status != 'CONVERGED', 'a goal out of reach')
    session.set_option('max_iterations', 78)
    hexapod.until(lambda s: s.options.max_iterations == 78, 'the parameter')
    np.testing.assert_allclose(session.robot.goals['platform'].matrix_world, wanted, atol=1e-12)
    assert session.structure == structure
    session.change_goal('platform', dof='SIDEWAYS')
    hexapod.until(lambda s: any('SIDEWAYS' in text for text in hexapod.said), 'the refusal')


def test_sliders_move_the_motors_of_the_node(hexapod):
    session = hexapod.session
    with pytest.raises(IkError, match='solve from joints'):
        session.set_joint('leg0', 0.003)
    session.set_forward(True)
    hexapod.until(lambda s: not s.robot.goals['platform'].enabled, 'goals to rest')
    session.set_joint('leg0', 0.003)
    hexapod.until(lambda s: abs(hexapod.value('leg0') - 0.003) < 1e-6, 'the motor')
    memory = session.remember()
    session.set_joint('leg0', 0.001)
    hexapod.until(lambda s: abs(hexapod.value('leg0') - 0.001) < 1e-6, 'the motor')
    session.restore(memory)
    hexapod.until(lambda s: abs(hexapod.value('leg0') - 0.003) < 1e-6, 'the motor to be back')
    assert session.forward
    for motor in ('leg1', 'leg2', 'leg3', 'leg4', 'leg5'):
        assert hexapod.value(motor) == pytest.approx(0.0, abs=1e-6)
    there = hexapod.link('platform_link')
    session.set_forward(False)
    hexapod.until(lambda s: s.robot.goals['platform'].enabled, 'goals to lead')
    hexapod.until(lambda s: bool(s.reports[0].goal_errors), 'a solve for the goal')
    np.testing.assert_allclose(hexapod.link('platform_link'), there, atol=1e-5)


def test_switch_follows_closures_released_by_others(hexapod):
    from std_srvs.srv import SetBool

    session = hexapod.session
    hexapod.graph.robots[0].released.add('leg1_ball')
    service = 'ik_node/closures/leg1_ball/enable'
    for on in (False, True):
        assert hexapod.graph.call(SetBool, service, SetBool.Request(data=on)).success
        hexapod.until(lambda s, on=on: s.robot.closures['leg1_ball'].enabled == on, f'switch {on}')
    # The page believes itself until the node has spoken.
    session.robot.closures['leg2_ball'].enabled = False
    hexapod.until(lambda s: s.robot.closures['leg2_ball'].enabled, 'what the node says')


def test_closures_reset_and_rest_pose_reach_the_node(hexapod):
    """A loop is released and closed, the robot is reset, and the rest pose is saved."""
    session = hexapod.session
    hexapod.graph.robots[0].released.add('leg0_ball')
    session.set_closure('leg0_ball', False)
    hexapod.until(lambda s: 'leg0_ball' not in s.reports[0].closure_errors, 'an open loop')
    session.set_closure('leg0_ball', True)
    hexapod.until(lambda s: 'leg0_ball' in s.reports[0].closure_errors, 'a closed loop')
    home = 0.088326

    def rests_at(height):
        hexapod.until(lambda s: abs(hexapod.link('platform_link')[2, 3] - height) < 1e-5, height)

    hexapod.moved('platform', (0.0, 0.0, 0.004))
    rests_at(home + 0.004)
    session.reset()
    rests_at(home)
    hexapod.moved('platform', (0.0, 0.0, 0.003))
    rests_at(home + 0.003)
    session.save_rest_pose()
    hexapod.graph.spin(20)
    hexapod.moved('platform', (0.0, 0.0, 0.004))
    rests_at(home + 0.007)
    # The rest pose is where a robot without a goal goes from its start.
    session.reset()
    rests_at(home + 0.003)
    assert hexapod.said == []


def test_later_description_replaces_the_robot(urdf, hexapod):
    """Its bodies within the margin of the node are red, also without obstacles."""
    hexapod.graph.knows(urdf('arm_at_shelf'))
    hexapod.session.remove_goal('platform')
    hexapod.until(lambda s: not s.robot.goals, 'no goal')
    hexapod.graph.describe(urdf('arm_at_shelf'))
    hexapod.until(lambda s: s.robot.name == 'arm_at_shelf' and len(s.q) == 6, 'the other robot')
    hexapod.until(lambda s: not s.note, 'its joint states')

    def red(session):
        helper = IKRootsHelper(session.source)
        shapes = helper.set_layers().shapes(start) if helper.avoids else []
        return any(s.layer == 'collisions' and s.rgba[:3] == IN_CONTACT[:3] for s in shapes)

    session, start = hexapod.session, hexapod.session.q
    near = session.robot.collisions.nearest(start).d
    assert not IKRootsHelper(session.source).avoids
    change = hexapod.graph.set_parameters
    assert change(collisions__always=True, collisions__margin=near + 0.01) == ''
    hexapod.until(red, 'bodies nearer than the margin')
    assert change(collisions__margin=near - 0.01) == ''
    hexapod.until(lambda s: IKRootsHelper(s.source).avoids and not red(s), 'a smaller margin')

"""Commands begin where the robot is, keep limits and loops, and stop when they should."""

from ik_node.ros.control import hardware_output
import numpy as np
import pytest

LEGS = [f'leg{number}' for number in range(6)]


@pytest.fixture
def hexapod(moving):
    """Provide the hexapod, its legs commanded, its platform with a goal to come."""
    return moving(
        'hexapod',
        goal_names=('platform',),
        goals__platform__link='platform_link',
        output__type='both',
    )


def start(robot, offset=(0.006, 0.004, 0.002), **measured):
    """Measure all legs and send a goal; return the first command and the goal's position."""
    position = robot.goal('platform', offset)
    robot.measure(**{**dict.fromkeys(LEGS, 0.0), **measured})
    _, command = robot.tick()
    return command, position


def check(robot, before, command, period=0.01, elapsed=0.01):
    """
    Assert that a command is one step from a configuration, within limits, loops closed.

    Its velocities are those of the time that passed since the last command.
    """
    q = robot.motion.hardware.q
    robot.watched.check_q(q)
    assert command.names == tuple(LEGS)
    assert command.positions.tolist() == [robot.value(leg, q) for leg in LEGS]
    assert (np.abs(q - before) <= robot.model.max_velocity * period * (1 + 1e-6)).all()
    steps = [robot.value(leg, q - before) for leg in LEGS]
    assert command.velocities * elapsed == pytest.approx(steps, abs=1e-11)


def test_no_command_before_a_goal_and_all_measurements(hexapod):
    hardware = hexapod.motion.hardware
    assert (hexapod.tick()[1], hardware.note) == (None, 'no goal yet')
    hexapod.goal('platform', (0.001, 0.0, 0.0))
    assert hexapod.tick()[1] is None
    assert hardware.note == 'not measured yet: ' + ', '.join(LEGS)
    hexapod.measure(**dict.fromkeys(LEGS[:5], 0.0))
    assert (hexapod.tick()[1], hardware.note) == (None, 'not measured yet: leg5')
    hexapod.measure(leg5=0.0)
    assert hexapod.tick()[1] is not None
    assert hardware.note == ''


def test_commands_approach_the_solution_at_the_limits(hexapod):
    """Each step keeps velocity limits and loops; the last one is the solution, at rest."""
    command, position = start(hexapod)
    steps = 0
    while not np.array_equal(hexapod.motion.hardware.q, hexapod.tracker.q):
        before = hexapod.motion.hardware.q
        report, command = hexapod.tick()
        assert report.converged
        check(hexapod, before, command)
        steps += 1
        assert steps < 200
    assert steps > 5
    _, command = hexapod.tick()
    assert command.velocities.tolist() == [0.0] * 6
    reached = hexapod.model.reached('platform', hexapod.motion.hardware.q)[:3, 3]
    assert reached == pytest.approx(position, abs=2e-6)


def test_tick_soon_after_the_last_repeats_its_command(hexapod):
    """The next one covers both, and its velocities are those of all the time."""
    start(hexapod)
    _, command = hexapod.tick()
    before = hexapod.motion.hardware.q
    again = hexapod.tick(0.004)[1]
    assert again.positions is command.positions
    assert again.velocities is command.velocities
    assert again.period == pytest.approx(0.006)
    _, command = hexapod.tick(0.006)
    check(hexapod, before, command)


def test_late_or_early_tick_steps_no_further_than_its_time(hexapod):
    """No step is longer than a period allows, or than the elapsed time allows."""
    start(hexapod)
    for seconds, period in ((0.05, 0.01), (0.006, 0.006), (0.0, 0.0), (-50.0, 0.0), (0.01, 0.01)):
        before = hexapod.motion.hardware.q
        _, command = hexapod.tick(seconds)
        check(hexapod, before, command, period, max(seconds, 0.0))
        moved = not np.array_equal(before, hexapod.motion.hardware.q)
        assert moved == (period > 0.0)


@pytest.mark.parametrize(
    ('values', 'wait'),
    [({'goal_timeout': 0.1}, 'goal'), ({'joint_state_timeout': 0.1}, 'joint_states')],
)
@pytest.mark.parametrize('on_stale', ['hold', 'stop', 'ignore'])
def test_on_stale_decides_the_command(hexapod, values, wait, on_stale):
    """Hold repeats the last command at rest, stop sends none, ignore continues."""
    hexapod.configure(on_stale=on_stale, **values)
    start(hexapod)
    hexapod.tick()
    before = hexapod.motion.hardware.q
    hexapod.now += 0.2
    if wait == 'goal':
        hexapod.measure(**dict.fromkeys(LEGS, 0.0))
    _, command = hexapod.tick()
    if on_stale == 'stop':
        assert command is None
        assert hexapod.motion.hardware.q is None
    elif on_stale == 'hold':
        check(hexapod, before, command, 0.0)
        assert not command.velocities.any()
        assert 'stale' in hexapod.motion.hardware.note
        hexapod.goal('platform', (0.006, 0.004, 0.002))
        hexapod.measure(**dict.fromkeys(LEGS, 0.0))
        _, command = hexapod.tick()
        check(hexapod, before, command)
        assert np.any(command.velocities != 0.0)
    else:
        check(hexapod, before, command, elapsed=0.21)
        assert np.any(command.velocities != 0.0)


@pytest.mark.parametrize('how', ['pause', 'reset', 'type', 'goal'])
def test_commands_start_at_the_measured_configuration_after_a_pause(hexapod, how):
    """The first command after a pause is the present measurement, not the last command."""
    start(hexapod)
    hexapod.ticks(5)
    if how == 'pause':
        hexapod.motion.paused = True
    elif how == 'reset':
        hexapod.motion.reset(hexapod.tracker)
    elif how == 'type':
        hexapod.configure(output__type='none')
    else:
        hexapod.configure(goals__platform__enabled=False)
    assert hexapod.tick()[1] is None
    measured = hexapod.model.solver.drive(dict.fromkeys(LEGS, -0.002), hexapod.model.q_start).q
    hexapod.motion.paused = False
    hexapod.configure(output__type='commands', goals__platform__enabled=True)
    command, _ = start(hexapod, **{leg: hexapod.value(leg, measured) for leg in LEGS})
    assert command.positions.tolist() == [hexapod.value(leg, measured) for leg in LEGS]
    assert command.velocities.tolist() == [0.0] * 6


def test_blocked_path_makes_commands_solve_for_the_goals(hexapod, monkeypatch):
    """Commands solve for the goals from where they are, within limits, until they arrive."""
    _, position = start(hexapod)
    monkeypatch.setattr(hardware_output, 'approach', lambda *words: (words[1], 'barred'))
    before = hexapod.motion.hardware.q
    _, command = hexapod.tick()
    check(hexapod, before, command, 0.0)
    assert hexapod.motion.hardware.note == 'cannot follow the solution: barred'
    _, command = hexapod.tick()
    assert 'from the last command' in hexapod.motion.hardware.note
    monkeypatch.undo()
    for _ in range(100):
        before = hexapod.motion.hardware.q
        _, command = hexapod.tick()
        check(hexapod, before, command)
    assert hexapod.motion.hardware.note == ''
    reached = hexapod.model.reached('platform', hexapod.motion.hardware.q)[:3, 3]
    assert reached == pytest.approx(position, abs=2e-6)


def test_new_robot_stops_the_commands(hexapod, moving):
    """A new description stops the commands; new goals for the same robot do not."""
    start(hexapod)
    q = hexapod.motion.hardware.q
    same = moving('hexapod', goal_names=('other',), goals__other__link='platform_link').model
    hexapod.motion.take_model(same, hexapod.settings)
    assert hexapod.motion.hardware.q is q
    hexapod.motion.take_model(moving('fivebar').model, hexapod.settings)
    assert hexapod.motion.hardware.q is None


SLIDE = """<robot name="slide"><link name="base"/><link name="tip"/>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="tip"/>
    <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture
def parked(moving):
    """Return what parks a joint by so much outside its upper limit, and runs to a goal."""

    def run(robot, joint, excess, offset, **values):
        made = moving(robot, goal_names=('tip',), output__type='commands', **values)
        start = made.model.q_start.copy()
        at = made.model.joint_names.index(joint)
        start[at] = made.model.upper[at] + excess
        q = made.model.solver.drive({joint: float(start[at])}, start).q
        outputs = made.motion.roles.outputs
        measured = {name: made.value(name, q) for name in outputs} | {joint: float(start[at])}
        inside = q.copy()
        inside[at] = made.model.upper[at] + offset
        inside = made.model.solver.drive({joint: float(inside[at])}, inside).q
        pose = made.model.reached('tip', inside)
        from ik_node.model.rotation import pose_from_matrix

        made.goals.put('tip', pose_from_matrix(pose), made.now)
        values = []
        for _ in range(300):
            made.measure(**measured)
            _, command = made.tick()
            if command is None:
                break
            measured = dict(zip(command.names, command.positions.tolist(), strict=True))
            values.append(made.value(joint, made.motion.hardware.q))
        return made, np.array(values), made.model.upper[at]

    return run


@pytest.mark.parametrize(
    ('robot', 'joint', 'excess', 'goal'),
    [
        ('arm6', 'j2', 2e-3, {'goals__tip__link': 'tool_link'}),
        ('hexapod', 'leg0', 1e-3, {'goals__tip__link': 'platform_link'}),
        (SLIDE, 'slide', 4e-3, {'goals__tip__link': 'tip', 'goals__tip__dof': 'X'}),
    ],
)
def test_robot_parked_just_outside_a_limit_moves_inwards_only(parked, robot, joint, excess, goal):
    """Commands begin where it is; a goal inside is reached, and one farther out is not."""
    made, values, upper = parked(robot, joint, excess, -0.01, **goal)
    assert values[0] == pytest.approx(upper + excess, abs=1e-6)
    assert (np.diff(values) <= 1e-9).all()
    assert values[-1] == pytest.approx(upper - 0.01, abs=1e-5)
    assert made.motion.hardware.note == ''
    _, values, upper = parked(robot, joint, excess, excess + 0.01, **goal)
    assert len(values) == 300
    assert values.max() <= upper + excess + 1e-9


@pytest.mark.parametrize('values', [{'limit_tolerance': 1e-3}, {'solver__start_outside': 'clamp'}])
def test_robot_parked_farther_outside_than_the_tolerance_is_not_moved(parked, values):
    made, commands, _ = parked('arm6', 'j2', 2e-3, -0.01, goals__tip__link='tool_link', **values)
    assert len(commands) == 0
    assert 'joint j2 is measured at' in made.motion.hardware.note
    assert 'limit_tolerance' in made.motion.hardware.note

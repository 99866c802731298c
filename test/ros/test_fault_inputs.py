"""Fault drill: bad goals, measured joint states and parameters; a flood; a client that dies."""

from functools import partial
import math
import signal
import time

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from support.drill import Drill, RATE


@pytest.fixture(scope='module')
def drill(lasting_graph, urdf):
    drill = Drill(lasting_graph)
    drill.knows(urdf('hexapod'))
    drill.start('-r', 'joint_states:=measured')
    drill.graph.describe(urdf('hexapod'))
    drill.go()
    drill.whole = published(drill)
    return drill


@pytest.fixture(autouse=True)
def at_home(drill):
    assert drill.graph.set_parameters(goal_timeout=0.0) == ''
    drill.go()


def refusals(drill, topic):
    return int(drill.value('input', topic) or 0)


@pytest.mark.parametrize(
    ('offset', 'frame', 'words'),
    [
        ((math.nan, 0.0, 0.0), '', 'pose.position.x = nan'),
        ((0.0, -math.inf, 0.0), '', 'pose.position.y = -inf'),
        ((1e41, 0.0, 0.0), '', 'pose.position.x = 1e+41'),
        ((1e40, 1e40, 1e40), 'leg0_rod_link', 'not within 1e+40 m'),
        ((0.0, 0.0, 0.0), 'mars', "header.frame_id = 'mars'"),
        ((0.0, 0.0, 0.0), 'leg0_rod_link/', "header.frame_id = 'leg0_rod_link/'"),
    ],
)
def test_invalid_goal_is_refused(drill, offset, frame, words):
    before = refusals(drill, 'goals/platform')
    drill.circle(meanwhile=dict.fromkeys((8, 9, 15), lambda: drill.send(offset, frame)))
    drill.wait(
        lambda: before < refusals(drill, 'goals/platform') <= before + 3, 'the refusals told'
    )
    assert words in drill.value('input', 'last')
    assert 'goals/platform: ' in drill.graph.log()


def test_goal_without_frame_is_refused_for_an_unknown_base_frame(drill):
    """The refusal names the parameter, because the message names no frame."""
    assert drill.graph.set_parameters(base_frame='mars') == ''

    def refused() -> bool:
        # Sent again and again: the node takes over the parameter at its next tick.
        drill.send((0.0, 0.0, 0.0))
        return "base_frame = 'mars'" in drill.value('input', 'last')

    drill.wait(refused, 'the refusal')
    assert drill.graph.set_parameters(base_frame='') == ''
    drill.go()


@pytest.mark.parametrize('offset', [(1e39, 0.0, 0.0), (1e9, -1e9, 1e9), (0.0, 0.0, -5.0)])
def test_unreachable_goal_is_never_converged(drill, offset):
    drill.send(offset)
    drill.wait(lambda: not drill.status.startswith('CONVERGED'), 'another status')
    drill.flows(20)
    assert 'CONVERGED' not in drill.status
    drill.go()
    drill.says('CONVERGED')


def test_stale_goal_is_reported_and_not_followed(drill):
    assert drill.graph.set_parameters(goal_timeout=0.5) == ''
    drill.go()
    drill.send((0.004, 0.0, 0.0), stamp=time.time() - 60.0)
    drill.says('goal platform is stale')
    drill.flows(20)
    assert drill.at((0.0, 0.0, 0.0))
    drill.go((0.0, 0.003, 0.0))
    drill.wait(lambda: drill.send((0.0, 0.003, 0.0)) or drill.status == 'CONVERGED', 'CONVERGED')
    drill.says('goal platform is stale')


def test_last_of_ten_thousand_goals_is_reached(drill):
    before, taken = drill.count, int(drill.value('ticks', 'goals'))
    last = (0.002, 0.001, 0.0)
    flood = drill.start_client('flood', last, '--rate', '10000', '--count', '10000')
    drill.wait(lambda: flood.poll() is not None, 'the end of the flood')
    assert flood.returncode == 0, drill.graph.log('flood')
    assert drill.count > before
    drill.arrives(last)
    drill.wait(lambda: int(drill.value('ticks', 'goals')) > taken + 10, 'the count of goals')
    drill.says('CONVERGED')


def test_killed_client_leaves_the_platform_in_place(drill):
    assert drill.graph.set_parameters(goal_timeout=0.5) == ''
    drill.start_client('client', (0.001, 0.0, 0.0))
    drill.wait(lambda: np.linalg.norm(drill.offset()) > 1e-3, 'a motion')
    drill.flows(20)
    assert drill.graph.end('client', signal.SIGKILL) == -signal.SIGKILL
    # Where the client was slow its goal was stale before, too: that is not what is looked for.
    drill.flows(int(1.5 * 0.5 * RATE))
    drill.says('goal platform is stale')
    drill.flows(1)
    place = drill.offset()
    drill.flows(20)
    assert drill.at(place)
    drill.go()


BAD_PARAMETERS = [
    ('rate', 0.0, 'rate'),
    ('rate', math.nan, 'rate'),
    ('solver__max_iterations', -1, 'solver.max_iterations'),
    ('state_source', 'guess', 'solution or measured'),
    ('goals__platform__weight', -1.0, 'goals.platform.weight'),
    ('goals__platform__link', 'nose', "'nose'"),
    ('max_joint_velocity', 2.0, 'max_joint_velocity'),
]


def test_bad_parameter_is_refused_in_motion(drill):
    reasons = []

    def refuse(at):
        name, value, _ = BAD_PARAMETERS[at]
        reasons.append(drill.graph.set_parameters(**{name: value}))

    drill.circle(meanwhile={4 + at: partial(refuse, at) for at in range(len(BAD_PARAMETERS))})
    for reason, (name, _, words) in zip(reasons, BAD_PARAMETERS, strict=True):
        assert words in reason, name


def measure(drill, values, names=None, stamp=0.0):
    names = list(values) if names is None else names
    numbers = values.values() if isinstance(values, dict) else values
    message = JointState(name=names, position=[float(number) for number in numbers])
    message.header.stamp.sec = int(stamp)
    drill.graph.publish(JointState, 'measured', message)


def published(drill):
    """Return what the node said last, as a robot that follows would measure it."""
    return dict(zip(drill.last.name, drill.last.position, strict=True))


def follow(drill, fault):
    drill.circle(meanwhile=dict.fromkeys(range(0, 24, 2), fault))


@pytest.fixture
def measured(drill):
    """Have the node start each tick from measured values, as long as the test runs."""
    measure(drill, drill.whole)
    assert drill.graph.set_parameters(state_source='measured') == ''
    drill.says('CONVERGED')
    yield
    assert drill.graph.set_parameters(state_source='solution', joint_state_timeout=0.0) == ''


@pytest.mark.usefixtures('measured')
def test_partial_joint_states_are_accepted(drill):
    before = refusals(drill, 'joint_states')
    follow(drill, lambda: measure(drill, dict(list(published(drill).items())[::-2])))
    follow(drill, lambda: measure(drill, {}))
    assert refusals(drill, 'joint_states') == before


@pytest.mark.usefixtures('measured')
def test_unknown_joints_are_reported_once(drill):
    follow(drill, lambda: measure(drill, {'gripper': 7.0, **published(drill), 'tail': math.pi}))
    follow(drill, lambda: measure(drill, {'gripper': 1e300}))
    assert drill.graph.log().count('the robot has no joint gripper, tail; ignored') == 1
    assert drill.graph.log().count('gripper') == 1


@pytest.mark.usefixtures('measured')
@pytest.mark.parametrize(
    ('names', 'values', 'words'),
    [
        (['leg0', 'leg1'], [0.001], '2 names need as many'),
        (['leg0'], [math.nan], 'position = [nan]'),
        (['leg0', 'leg1'], [math.inf, -math.inf], 'position of leg0 = inf'),
    ],
)
def test_joint_states_with_nan_are_refused(drill, names, values, words):
    before = refusals(drill, 'joint_states')
    follow(drill, lambda: measure(drill, values, names))
    drill.wait(lambda: refusals(drill, 'joint_states') > before, 'the count')
    assert words in drill.value('input', 'last')


@pytest.mark.usefixtures('measured')
@pytest.mark.parametrize('wrong', [{'leg0': 1e300}, {'leg0': -5.0, 'leg3': 5.0}, {'leg0_rx': 0.3}])
def test_impossible_joint_states_keep_limits_and_loops(drill, wrong):
    measure(drill, {**drill.whole, **wrong})
    drill.flows(20)
    measure(drill, drill.whole)
    drill.go()


@pytest.mark.usefixtures('measured')
def test_stale_joint_states_are_reported_and_not_used(drill):
    assert drill.graph.set_parameters(joint_state_timeout=0.5) == ''
    measure(drill, drill.whole)
    drill.says('joint_states is stale')
    measure(drill, drill.whole, stamp=time.time() - 60.0)
    drill.flows(10)
    assert 'joint_states is stale' in drill.status
    drill.go((0.0, 0.002, 0.0))
    drill.wait(
        lambda: measure(drill, published(drill)) or 'stale' not in drill.status, 'a fresh state'
    )

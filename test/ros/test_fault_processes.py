"""Fault drill: a node is killed and comes back, two share a name; the drill's monitor."""

import signal

import pytest
from support.drill import Drill


@pytest.fixture(scope='module')
def drill(lasting_graph, urdf):
    drill = Drill(lasting_graph)
    drill.knows(urdf('hexapod'))
    drill.start()
    drill.graph.describe(urdf('hexapod'))
    drill.go()
    return drill


def test_restarted_node_follows_goals_again(drill):
    drill.circle(10)
    assert drill.graph.end('node', signal.SIGKILL) == -signal.SIGKILL
    drill.graph.joint_states.clear()
    drill.start()
    drill.go((0.002, 0.0, 0.0))
    assert 'ready: robot hexapod' in drill.graph.log()
    drill.circle(10)
    drill.says('CONVERGED')


def test_two_nodes_of_one_name_report_each_other(drill):
    drill.start(name='twin')
    drill.wait(lambda: 'ready: robot' in drill.graph.log('twin'), 'the other node')
    words = 'another node is called /ik_node'
    for name in ('node', 'twin'):
        drill.wait(lambda: words in drill.graph.log(name), f'the warning of {name}')  # noqa: B023
    drill.wait(lambda: words in drill.row('name'), 'the diagnostic')
    drill.circle(50)
    drill.flows(20)
    assert drill.graph.end('twin', signal.SIGKILL) == -signal.SIGKILL
    drill.circle(30)
    offset = drill.offset()
    drill.flows(20)
    assert drill.at(offset)

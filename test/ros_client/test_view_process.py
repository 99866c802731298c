"""The page of a running node, both in processes of their own."""

import signal
import urllib.request

import pytest
from support.ports import own_port
from support.waiting import PATIENCE

pytest.importorskip('rclpy')
pytest.importorskip('viser')

PORT = str(own_port(20))


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
def test_page_does_not_affect_the_node(graph, urdf, number):
    """A page starts and ends, gently or not; the node ticks and logs nothing."""
    graph.knows(urdf('hexapod'))
    graph.start_node('-p', 'goal_names:=[platform]', '-p', 'goals.platform.link:=platform_link')
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: len(graph.joint_states) > 10, 'joint states')
    said = graph.log()
    page = graph.start('view', 'ik_node', 'view', '--ros', '--port', PORT)
    url = graph.wait(lambda: graph.log('view').partition('open ')[2].split(' ')[0], 'the page')
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        assert answer.status == 200
    graph.spin(100)
    code = graph.end('view', number)
    assert code == (0 if number == signal.SIGINT else -number)
    assert page.poll() is not None
    graph.spin(100)
    assert graph.log() == said
    assert 'Traceback' not in graph.log('view')
    assert graph.end('node') == 0


def test_page_finds_the_node_in_its_namespace(graph, urdf):
    graph.start('view', 'ik_node', 'view', '--ros', '--port', PORT, '--seconds', '2')
    graph.wait(lambda: 'open http' in graph.log('view'), 'the page')
    assert graph.processes.pop('view').wait(PATIENCE) == 0
    graph.start(
        'other', 'ik_node', 'view', '--ros', '--port', PORT, '--ros-args', '-r', '__ns:=/left'
    )
    graph.wait(
        lambda: any('/left' in space for _, space in graph.client.get_node_names_and_namespaces()),
        'a node in the namespace',
    )
    assert graph.end('other') == 0

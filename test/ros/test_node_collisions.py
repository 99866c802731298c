"""The node keeps away from obstacles of a topic and of a file."""

import ik_node as ik
from ik_node.scene.look import IN_CONTACT, NEAREST
import numpy as np
import pytest
from support.marker_cloud import colour_of, Viewer
from support.robot_texts import arm_text
from support.watched_robot import Watched

MARGIN = 0.005


def marker(number=0, kind=1, xyz=(0.0, 0.0, 0.0), scale=(0.1, 0.1, 0.1), **fields):
    """Return a marker; `fields` are action, ns, frame, quat and lifetime [s]."""
    from visualization_msgs.msg import Marker

    made = Marker(id=number, type=kind, action=fields.get('action', 0), ns=fields.get('ns', 'a'))
    made.header.frame_id = fields.get('frame', '')
    point, size, turn = made.pose.position, made.scale, made.pose.orientation
    point.x, point.y, point.z = map(float, xyz)
    size.x, size.y, size.z = map(float, scale)
    turn.x, turn.y, turn.z, turn.w = map(float, fields.get('quat', (0, 0, 0, 1)))
    life = fields.get('lifetime', 0.0)
    made.lifetime.sec, made.lifetime.nanosec = int(life), int(1e9 * (life % 1.0))
    return made


@pytest.fixture
def node(graph):
    """Provide a node with the arm, and what sends markers and reads diagnostics."""
    from visualization_msgs.msg import MarkerArray

    text = arm_text()
    goals = {'tip': ('l6', 'X Y Z')}
    graph.arm = graph.start_robot(text, collisions__margin=MARGIN, rate=100.0, goals=goals).robot
    graph.says('CONVERGED')

    def send(*markers):
        message = MarkerArray(markers=list(markers))
        graph.publish(MarkerArray, 'ik_node/obstacles', message)

    graph.send = send
    return graph


def count(node):
    return int(node.row('collisions')[1]['obstacles'])


def test_goal_dragged_through_a_thin_wall_stops_at_the_margin(node):
    """The arm stays on its side of a wall of 5 mm; status and diagnostics name the pair."""
    node.send_goal('tip', (0.7, 0.2, 1.0))
    node.says('CONVERGED')
    node.send(marker(scale=(0.005, 3.0, 3.0), xyz=(0.9, 0.0, 1.0)))
    assert node.row('collisions')[1]['obstacles'] == '1'
    first = len(node.joint_states)
    for k in range(1, 61):
        node.send_goal('tip', (0.7 + 0.01 * k, 0.2, 1.0), arrives=False)
        node.turn()
    status = node.says('a/0')
    values = {pair.key: pair.value for pair in status.values}
    assert values['nearest.pair'].split()[1] == 'a/0'
    assert 'CONVERGED' not in status.message
    message, values = node.row('collisions')
    assert 'a/0' in message
    assert float(values['nearest.distance']) > MARGIN - 2e-3
    wall = ik.Box((0.005, 3.0, 3.0))
    node.arm.collisions.add_obstacle(wall, (0.9, 0.0, 1.0), 'a/0')
    for message in node.joint_states[first:]:
        q = np.array(message.position)
        middle = node.arm.forward(q, 'l6') @ (0.0, 0.0, 0.15, 1.0)
        assert middle[0] < 0.9
        found = node.arm.collisions.contacts(q)
        assert not [each for each in found if 'a/0' in each.pair], found
    node.send(marker(action=3))
    node.says('CONVERGED')


def test_markers_are_added_moved_deleted_and_end(node):
    """ADD, MODIFY, DELETE, DELETEALL and lifetime do what RViz does; frames may be links."""
    far = (5.0, 5.0, 5.0)
    node.send(marker(0, 1, far), marker(1, 2, far), marker(2, 3, far), marker(0, 2, far, ns='b'))
    assert count(node) == 4
    node.send(marker(1, 2, far, action=2), marker(9, 1, far, action=2))
    assert count(node) == 3
    node.send(marker(ns='b', action=3))
    assert count(node) == 2
    node.send(marker(7, 2, far, scale=(0.1, 0.2, 0.3), lifetime=0.3), marker(0, 1, far))
    node.wait(lambda: count(node) == 2, 'the end of a lifetime')
    node.send(marker(0, 1, (0.0, 0.0, 4.0), frame='l6'))
    at_home = float(node.row('collisions')[1]['nearest.distance'])
    assert at_home < 4.0
    node.send(marker(action=3, ns=''))
    node.says('CONVERGED')
    assert 'ik_node: collisions' not in [
        key for key in node.diagnostics if node._told[key] > max(node._told.values()) - 1e-3
    ]


def test_hostile_markers_are_refused_and_the_last_scene_stays(node):
    """Each bad message counts as refused once and changes nothing, with one log line at a time."""
    nan, inf, good = float('nan'), float('inf'), (3.0, 3.0, 3.0)
    node.send(marker(0, 1, good))
    hostile = {
        'negative': marker(1, 1, good, scale=(-1, 1, 1)),
        'zero': marker(1, 2, good, scale=(0, 0, 0)),
        'infinite': marker(1, 1, good, scale=(inf, 1, 1)),
        'nan size': marker(1, 3, good, scale=(nan, nan, 1)),
        'huge': marker(1, 2, good, scale=(1e9, 1e9, 1e9)),
        'nan place': marker(1, 1, (nan, 0, 0)),
        'zero quaternion': marker(1, 1, good, quat=(0, 0, 0, 0)),
        'elliptic cylinder': marker(1, 3, good, scale=(1, 2, 1)),
        'mesh': marker(1, 10, good),
        'arrow': marker(1, 0, good),
        'type': marker(1, 99, good),
        'action': marker(1, 1, good, action=77),
        'frame': marker(1, 1, good, frame='nowhere'),
    }
    for made in hostile.values():
        # The good half of a bad message is not taken either.
        node.send(marker(5, 1, good), made)
    node.send(*(marker(k, 1, good) for k in range(501)))

    def refused():
        return int(node.row('input')[1].get('obstacles', 0))

    node.wait(lambda: refused() >= len(hostile) + 1, 'refusals')
    assert refused() == len(hostile) + 1
    assert count(node) == 1
    assert 'Traceback' not in node.log()
    lines = [line for line in node.log().splitlines() if 'last' in line and 'obstacles' in line]
    assert 1 <= len(lines) <= len(hostile) + 1


def test_markers_colour_pairs_that_are_nearer_than_the_margin(node):
    """A wall 30 cm away is in contact for a margin of 1 m, and none for that of before."""
    from visualization_msgs.msg import MarkerArray

    viewer = Viewer()
    node.client.create_subscription(MarkerArray, 'ik_node/markers', viewer.take, 500)
    layers = {'markers__layers': 'collisions', 'collisions__influence_distance': 2.0}
    assert node.set_parameters(**layers) == ''
    node.send(marker(scale=(0.1, 0.1, 0.1), xyz=(0.8, 0.8, 0.8)))
    for margin, colour in ((1.0, IN_CONTACT), (MARGIN, NEAREST)):
        assert node.set_parameters(collisions__margin=margin) == ''

        def shown(colour=colour):
            seen = {colour_of(each)[:3] for each in viewer.of('collisions')}
            other = IN_CONTACT if colour is NEAREST else NEAREST
            wanted, not_wanted = (
                any(each == pytest.approx(which[:3], abs=1e-6) for each in seen)
                for which in (colour, other)
            )
            return wanted and not not_wanted

        node.wait(shown, f'the colour with a margin of {margin}')


def test_file_of_obstacles_is_read_and_replaced(node, tmp_path):
    """The parameter may change; a file with a fault is refused with its line."""
    path = tmp_path / 'obstacles.yaml'
    path.write_text('obstacles:\n  table: {box: [1, 1, 0.1], xyz: [3, 0, 0]}\n')
    assert node.set_parameters(collisions__obstacles_file=str(path)) == ''
    assert count(node) == 1
    bad = tmp_path / 'bad.yaml'
    bad.write_text('obstacles:\n  table: {box: [1, -1, 0.1]}\n')
    assert f'{bad}:2' in node.set_parameters(collisions__obstacles_file=str(bad))
    assert count(node) == 1
    assert 'No such file' in node.set_parameters(collisions__obstacles_file='/none.yaml')
    assert node.set_parameters(collisions__obstacles_file='') == ''
    node.says('CONVERGED')
    assert Watched(arm_text()).names == list(node.joint_states[-1].name)

"""Publishers of the same joints are told apart where rclpy does not name the sender."""

from types import SimpleNamespace

from ik_node.ros.inputs.inputs import JointStateSenders
from ik_node.ros.process import Faults
import pytest


class _Node:
    """What JointStateSenders needs of a node: the publishers of a topic, and a logger."""

    def __init__(self, *publishers):
        self.log = []
        self._infos = [
            SimpleNamespace(endpoint_gid=[index], node_namespace='/', node_name=name)
            for index, name in enumerate(publishers)
        ]

    def resolve_topic_name(self, topic):
        return f'/{topic}'

    def get_publishers_info_by_topic(self, _topic):
        return self._infos

    def get_logger(self):
        return SimpleNamespace(warning=self.log.append)


def rows_of(node, *seconds):
    """Return the rows after seconds of messages, each as its number and its joints."""
    senders = JointStateSenders(node)
    faults, rows = Faults(node, {'joint_states': senders.fault}), []
    for messages in seconds:
        for number, names in messages:
            senders.add(names.split(), {'publication_sequence_number': number})
        rows.append(faults.rows())
    return rows


def test_two_publishers_of_a_joint_are_named_by_numbers_that_fall():
    node = _Node('driver', 'joint_state_publisher')
    seconds = [[(900 + 2 * s, 'a b'), (s, 'b'), (901 + 2 * s, 'a b')] for s in range(4)]
    rows = rows_of(node, *seconds)
    assert [len(each) for each in rows] == [0, 1, 1, 1]
    assert '/driver and /joint_state_publisher both publish b' in rows[-1][0].message
    assert node.log == [rows[-1][0].message]


def test_three_publishers_are_all_named():
    node = _Node('gripper', 'driver', 'zeros')
    rows = rows_of(node, *[[(s, 'a'), (s, 'a'), (s, 'b')] for s in range(3)])
    assert 'several of /driver, /gripper, /zeros publish a.' in rows[-1][0].message


@pytest.mark.parametrize(
    'seconds',
    [
        pytest.param([[(5, 'a'), (9, 'a')], [(10, 'a')], [(40, 'a')]], id='lost messages'),
        pytest.param([[(7, 'a'), (8, 'a')], [(0, 'a')], [(1, 'a')]], id='a restart'),
        pytest.param([[(90 + s, 'a'), (s, 'b')] for s in range(3)], id='parts of a robot'),
        pytest.param([[(None, 'a'), (None, 'a')]] * 3, id='no numbers'),
    ],
)
def test_one_publisher_of_each_joint_gives_no_row(seconds):
    node = _Node('driver', 'gripper')
    assert rows_of(node, *seconds) == [[]] * len(seconds)
    assert not node.log

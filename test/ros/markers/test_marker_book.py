"""What viewers have after each message is what was drawn, however the message was made."""

from dataclasses import replace

from builtin_interfaces.msg import Time
from ik_node.ros.markers import AT_ONCE, MarkerBook, markers_of
from ik_node.scene import Capsule, Sector, Segment, Sphere, Text
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from support.marker_cloud import Viewer
from visualization_msgs.msg import Marker

RGBA = (0.25, 0.5, 0.75, 0.5)
TURN = (0.0, 0.6, 0.0, 0.8)


def shape(kind, name, at, *more):
    return kind(name, name.split('/')[0], 'x', (at, 2.0, -3.0), TURN, RGBA, 0.0, *more)


def scene(at):
    return [
        shape(Sphere, 'axes/a', at, 0.1, 12),
        shape(Segment, 'axes/b', at, 0.1 + at, 0.02),
        shape(Sector, 'limits/a', at, 0.3, 0.0, -1.0, 2.0, 0.1 * at, 24),
        shape(Sector, 'goals/g/EX', at, 0.3, 0.28, -1.0, 2.0, None, 24),
        shape(Capsule, 'links/a', at, 0.1, 0.5, 12),
        shape(Text, 'closures/c/gap', at, '3 mm', 0.1),
    ]


def spheres(count):
    return [shape(Sphere, f'axes/{number}', float(number), 0.1, 12) for number in range(count)]


class Sent:
    """A book, what it sent, and the viewer that got it."""

    def __init__(self):
        self.book = MarkerBook()
        self.viewer = Viewer()
        self.messages = []

    def send(self, shapes, frame='base', second=7):
        message = self.book.message(shapes, frame, Time(sec=second, nanosec=8))
        self.messages.append(message)
        self.viewer.take(message)
        return message

    def shows(self, shapes):
        found = sorted(map(plain, self.viewer.markers.values()))
        return found == sorted(plain(each) for one in shapes for each in markers_of(one))


def plain(marker):
    marker = deserialize_message(serialize_message(marker), Marker)
    colours = [str(colour) for colour in marker.colors]
    points = [str(point) for point in marker.points]
    whole = [str(each) for each in (marker.pose, marker.scale, marker.color)]
    return (marker.type, whole, points, colours, marker.text)


@pytest.fixture
def sent():
    return Sent()


def test_first_message_has_all_markers(sent):
    assert sent.book.is_empty
    others = sent.send(scene(1.0)).markers
    assert not sent.book.is_empty
    assert {marker.action for marker in others} == {Marker.ADD}
    assert {marker.header.frame_id for marker in others} == {'base'}
    assert {(each.header.stamp.sec, each.header.stamp.nanosec) for each in others} == {(7, 8)}
    assert {marker.ns for marker in others} == {'axes', 'limits', 'goals', 'links', 'closures'}
    assert len(sent.viewer.markers) == len(others) == 8
    assert sent.shows(scene(1.0))


def test_removed_shape_is_deleted(sent):
    sent.send(scene(1.0))
    ids = {(marker.ns, marker.id) for marker in sent.viewer.of('links')}
    fewer = [each for each in scene(1.1) if each.layer != 'links']
    array = sent.send(fewer)
    gone = [marker for marker in array.markers if marker.action == Marker.DELETE]
    assert {(marker.ns, marker.id) for marker in gone} == ids
    assert sent.shows(fewer)
    array = sent.send(scene(1.2))
    assert not [marker for marker in array.markers if marker.action == Marker.DELETE]
    assert {(marker.ns, marker.id) for marker in sent.viewer.of('links')} == ids
    assert sent.shows(scene(1.2))


def test_later_message_repeats_deletions(sent):
    slow = Viewer()
    slow.take(sent.send(scene(1.0)))
    fewer = [each for each in scene(1.1) if each.layer != 'links']
    sent.send(fewer)
    slow.take(sent.send(fewer))
    assert slow.markers.keys() == sent.viewer.markers.keys()
    sent.book.clear_deletions()
    sent.send(spheres(3))
    slow.take(sent.send(spheres(3)))
    assert slow.markers.keys() == sent.viewer.markers.keys()
    assert sent.shows(spheres(3))


def test_many_new_markers_take_several_messages(sent):
    """A message contains a limited number of new markers; the others keep moving."""
    many = spheres(2 * AT_ONCE + 5)
    for count in (AT_ONCE, 2 * AT_ONCE, len(many)):
        assert sent.book.complete == (count == AT_ONCE)
        sent.send(many)
        assert sent.shows(many[:count])
    assert sent.book.complete
    red = [replace(each, rgba=(1.0, 0.0, 0.0, 1.0)) for each in many]
    while not sent.shows(red):
        sent.send(red)
        assert len(sent.viewer.markers) == len(many)
    assert len(sent.messages) == 6

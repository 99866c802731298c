"""Markers of a real node: what is seen is what the joint states of the same stamp say."""

from ik_node.scene.look import COLOURS
import numpy as np
import pytest
from std_srvs.srv import Trigger
from support.marker_cloud import colour_of, pose_of, Viewer
from visualization_msgs.msg import Marker, MarkerArray

PLATFORM = 'platform_link'
LAYERS = 'frames axes limits closures goals'
WITHOUT_GOALS = LAYERS.removesuffix(' goals')
USUAL = {
    'markers__layers': LAYERS,
    # A busy machine reads some hundred markers a second: what is seen must not be old.
    'markers__rate': 2.0,
    'markers__scale': 0.0,
    'markers__color': '',
    'markers__draw_through': 0.0,
}


@pytest.fixture(scope='module')
def bench(lasting_graph, urdf):
    """Provide the graph with a hexapod that has a goal for its platform, and a viewer."""
    graph, goals = lasting_graph, {'platform': PLATFORM}
    graph.hexapod = graph.start_robot(
        urdf('hexapod'), rate=20.0, markers__interactive=True, goals=goals
    )
    graph.home = graph.hexapod.place(PLATFORM)
    graph.viewer = look(graph)
    graph.wait(lambda: graph.viewer.of('goals') == [], 'no goal')
    return graph


@pytest.fixture(autouse=True)
def as_usual(bench):
    bench.call(Trigger, 'ik_node/reset', Trigger.Request())
    assert bench.set_parameters(**USUAL) == ''
    bench.wait(lambda: layers(bench.viewer) == {*WITHOUT_GOALS.split()}, 'all markers')


def look(graph):
    """Return somebody new who looks at the markers, and misses none on a busy machine."""
    viewer = Viewer()
    viewer.subscription = graph.client.create_subscription(
        MarkerArray, 'ik_node/markers', viewer.take, 5000
    )
    return viewer


def layers(viewer):
    return {layer for layer, _ in viewer.markers}


def stamp(message):
    return message.header.stamp.sec, message.header.stamp.nanosec


def settled(graph):
    """
    Wait for some arrays, and return the configuration that all that is seen then is of.

    Joint states and markers come on two topics: the markers of one moment are kept until its joint
    state is there, and are what is seen afterwards.
    """
    viewer, count = graph.viewer, len(graph.viewer.arrays)
    moments = {}

    def found():
        if len(viewer.arrays) < count + 20:
            return None
        sent = {
            each.ns for array in viewer.arrays[-12:] for each in array.markers if not each.action
        }
        seen = {stamp(marker) for marker in viewer.markers.values()}
        if layers(viewer) == sent and len(seen) == 1:
            moments[seen.pop()] = dict(viewer.markers)
        return next((each for each in graph.joint_states[-2000:] if stamp(each) in moments), None)

    state = graph.wait(found, 'markers, and the joint state of their stamp')
    viewer.markers = moments[stamp(state)]
    return np.array(state.position)


def wait_for_layers(graph, names):
    """Wait until markers of these layers and no others are seen, all of one moment."""
    graph.wait(lambda: layers(graph.viewer) == {*names.split()}, f'the layers {names}')
    settled(graph)
    # Between two sights, of which a layer may be late, others are seen for a moment.
    graph.wait(lambda: layers(graph.viewer) == {*names.split()}, f'still the layers {names}')


def places(markers):
    """Return where markers are, (n, 3)."""
    return np.array([pose_of(marker)[:3, 3] for marker in markers])


def balls(viewer, colour):
    found = [each for each in viewer.of('closures') if each.type == Marker.SPHERE]
    return places([each for each in found if colour_of(each) == pytest.approx(colour, abs=1e-6)])


def test_markers_are_at_the_published_configuration(bench):
    """Forward kinematics gives the frame of every link and the ball of every loop."""
    robot = bench.hexapod.robot
    bench.send_goal('platform', bench.home + np.array([0.004, 0.003, 0.002]))
    bench.wait(lambda: bench.viewer.of('goals'), 'the goal')
    for _ in range(5):
        q = settled(bench)
        triads = [each for each in bench.viewer.of('frames') if each.type == Marker.LINE_LIST]
        seen = places(triads)
        for link in robot.links:
            place = robot.forward(q, link)[:3, 3]
            assert np.linalg.norm(seen - place, axis=1).min() < 1e-9
        found = balls(bench.viewer, COLOURS['closures'])
        assert len(found) == len(bench.hexapod.loops) == 6
        for (link, point), _ in bench.hexapod.loops.values():
            place = (robot.forward(q, link) @ point)[:3]
            assert np.linalg.norm(found - place, axis=1).min() < 2e-6
    assert {each.header.frame_id for each in bench.viewer.markers.values()} == {'base_link'}


def test_marker_parameters_take_effect_at_once(bench):
    assert bench.set_parameters(markers__layers='axes links labels') == ''
    names = {*bench.hexapod.names}
    bench.wait(lambda: {each.text for each in bench.viewer.of('labels')} == names, 'all names')
    wait_for_layers(bench, 'axes links labels')
    turning = [each for each in bench.viewer.of('axes') if each.type == Marker.CYLINDER]
    sizes = {each.scale.z for each in turning}
    assert bench.set_parameters(markers__scale=0.5, markers__color='#ff0000') == ''
    red = (1.0, 0.0, 0.0, 1.0)

    def as_told():
        found = bench.viewer.of('axes')
        return {colour_of(each) for each in found} == {red} and 0.5 in {
            each.scale.z for each in found
        }

    bench.wait(as_told, 'large red axes')
    assert 0.5 not in sizes
    assert bench.set_parameters(markers__draw_through=0.75) == ''
    bench.wait(lambda: {each.color.a for each in bench.viewer.of('links')} == {0.25}, 'glass')


def test_new_subscriber_gets_all_markers(bench):
    settled(bench)
    before = len(bench.viewer.arrays)
    other = look(bench)

    def deleted():
        since = bench.viewer.arrays[before:]
        return any(each.action == Marker.DELETEALL for array in since for each in array.markers)

    bench.wait(deleted, 'the deletion of everything')
    bench.wait(lambda: layers(other) == {*WITHOUT_GOALS.split()}, 'markers')
    wait_for_layers(bench, WITHOUT_GOALS)
    bench.wait(lambda: other.markers.keys() == bench.viewer.markers.keys(), 'the same markers')
    bench.client.destroy_subscription(other.subscription)

"""Markers as seen by viewers: points on their surface, and the set a viewer holds."""

from ik_node.model.rotation import pose_matrix
import numpy as np
from visualization_msgs.msg import Marker

_CIRCLE = [(np.cos(a), np.sin(a)) for a in np.linspace(0.0, 2.0 * np.pi, 73)]


class Viewer:
    """A set of markers by namespace and id, as in RViz."""

    def __init__(self):
        self.markers = {}
        self.arrays = []

    def take(self, array):
        self.arrays.append(array)
        for marker in array.markers:
            if marker.action == Marker.DELETEALL:
                self.markers.clear()
            elif marker.action == Marker.DELETE:
                self.markers.pop((marker.ns, marker.id), None)
            else:
                self.markers[marker.ns, marker.id] = marker

    def of(self, layer):
        return [each for (ns, _), each in sorted(self.markers.items()) if ns == layer]


def pose_of(marker):
    place, turn = marker.pose.position, marker.pose.orientation
    return pose_matrix((place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w))


def colour_of(marker):
    return (marker.color.r, marker.color.g, marker.color.b, marker.color.a)


def cloud(marker):
    """Return points (n, 3) on a marker's surface in its frame, by the rules of RViz."""
    points = np.array([(each.x, each.y, each.z) for each in marker.points]).reshape(-1, 3)
    size = np.array((marker.scale.x, marker.scale.y, marker.scale.z))
    if marker.type == Marker.CYLINDER:
        points = np.array([(c, s, z) for c, s in _CIRCLE for z in (-1, 1)]) * 0.5 * size
    elif marker.type == Marker.SPHERE:
        points = _ball(0.5 * size)
    elif marker.type == Marker.SPHERE_LIST:
        points = np.concatenate([point + _ball(0.5 * size) for point in points])
    elif marker.type == Marker.ARROW:
        start, end = points
        assert np.allclose(np.cross(end - start, (0, 0, 1)), 0.0)
        neck = end[2] - size[2]
        rings = ((0.5 * size[0], start[2]), (0.5 * size[0], neck), (0.5 * size[1], neck))
        points = [end, *((r * c, r * s, z) for c, s in _CIRCLE for r, z in rings)]
    frame = pose_of(marker)
    return np.asarray(points) @ frame[:3, :3].T + frame[:3, 3]


def _ball(size):
    turns = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 37)
    points = [(c * np.cos(t), s * np.cos(t), np.sin(t)) for c, s in _CIRCLE for t in turns]
    return np.array(points) * size

"""Fixtures of tests that start real nodes; without ROS no test of the node is collected."""

from importlib.util import find_spec

from support.ros_graph import context, graph, lasting_graph, moving, urdf

__all__ = ['context', 'graph', 'lasting_graph', 'moving', 'urdf']

collect_ignore_glob = ['*'] if find_spec('rclpy') is None else []

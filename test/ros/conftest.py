"""Fixtures of tests that start real nodes."""

from support.ros_graph import context, graph, lasting_graph, moving, urdf

__all__ = ['context', 'graph', 'lasting_graph', 'moving', 'urdf']

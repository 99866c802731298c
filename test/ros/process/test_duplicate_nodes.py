"""Two nodes of one name."""

import pytest

pytest.importorskip('rclpy')

from ik_node.ros.process.node_health import DuplicateNodes


class Graph:
    """A node called /a/ik among others; its log is kept."""

    def __init__(self):
        self.nodes = [('ik', '/a'), ('ik', '/b'), ('other', '/a')]
        self.said = []

    def get_name(self):
        """Return the name."""
        return 'ik'

    def get_namespace(self):
        """Return the namespace."""
        return '/a'

    def get_fully_qualified_name(self):
        """Return both."""
        return '/a/ik'

    def get_node_names_and_namespaces(self):
        """Return whom this node sees, itself included."""
        return self.nodes

    def get_logger(self):
        """Return itself."""
        return self

    def warning(self, text):
        """Warn."""
        self.said.append(text)


def test_other_names_and_namespaces_are_not_duplicates():
    """A node that is alone with its full name reports nothing."""
    graph = Graph()
    assert DuplicateNodes(graph).status_row() is None
    assert graph.said == []


def test_duplicate_is_logged_once_and_reported_while_it_exists():
    """A second duplicate after the first one is logged again."""
    graph = Graph()
    duplicates = DuplicateNodes(graph)
    graph.nodes.append(('ik', '/a'))
    rows = [duplicates.status_row() for _ in range(3)]
    assert len(graph.said) == 1
    assert 'another node is called /a/ik' in graph.said[0]
    assert {(row.level, row.name, row.message) for row in rows} == {
        (1, 'a/ik: name', graph.said[0])
    }
    graph.nodes.pop()
    assert duplicates.status_row() is None
    graph.nodes.append(('ik', '/a'))
    assert duplicates.status_row() is not None
    assert len(graph.said) == 2

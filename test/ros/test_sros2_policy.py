"""The SROS 2 policy allows what the node and the page do, and little else."""

from fnmatch import fnmatchcase
import re
import xml.etree.ElementTree as ElementTree

import pytest
from support.ports import own_port

# Of packages that ROS 2's wheels do not have: tf2_ros, interactive_markers, moveit_msgs and
# control_msgs. And what only some versions of ROS 2, or other parameters, bring.
MAY_BE_ABSENT = {
    *('/tf', '/tf_static', '/clock', '/parameter_events', '/robot_description'),
    *('/ik_node/goal_markers/feedback', '/ik_node/goal_markers/update', '/ik_node/joint_jog'),
    *('/ik_node/goal_markers/get_interactive_markers', '/ik_node/solve_ik'),
    '/ik_node/planning_scene',
    *('/ik_node/get_type_description', '/ik_node_view/get_type_description'),
    # The page creates a client at the first call.
    *('/ik_node/enable', '/ik_node/goals/*/enable', '/ik_node/closures/*/enable'),
}
ENTITIES = {
    ('topics', 'publish'): 'get_publisher_names_and_types_by_node',
    ('topics', 'subscribe'): 'get_subscriber_names_and_types_by_node',
    ('services', 'reply'): 'get_service_names_and_types_by_node',
    ('services', 'request'): 'get_client_names_and_types_by_node',
}


def allowed(repository, node, kind, way):
    root = ElementTree.parse(repository / 'config' / 'sros2' / 'ik_node.policy.xml').getroot()
    (profile,) = root.findall(f'enclaves/enclave/profiles/profile[@node="{node}"]')
    assert profile.attrib['ns'] == '/'
    names = [each.text for group in profile.findall(f'{kind}[@{way}="ALLOW"]') for each in group]
    assert len(names) == len(set(names))
    return {f'/{name.replace("~", node).lstrip("/")}' for name in names}


@pytest.fixture(scope='module')
def secured(lasting_graph, urdf, repository):
    """Provide the graph with the node, its outputs on all topics, and the page's process."""
    graph = lasting_graph
    graph.start_node(
        *('--params-file', str(repository / 'config' / 'hexapod.yaml')),
        *('-p', 'output.type:=both', '-p', 'output.joints:=[leg0]'),
    )
    graph.describe(urdf('hexapod'))
    graph.knows(urdf('hexapod'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    graph.wait(
        lambda: 'ik_node/commands' in str(graph.client.get_topic_names_and_types()), 'commands'
    )
    return graph


def entities(graph, node, kind, way):
    """Return the names of what a running node has, as soon as it is discovered."""
    graph.wait(lambda: node in graph.client.get_node_names(), node)
    ask = getattr(graph.client, ENTITIES[kind, way])
    return {name for name, _ in ask(node, '/')}


def compare(graph, repository, node, kind, way):
    """Wait until everything is there that the policy allows, and check that there is no more."""
    patterns = allowed(repository, node, kind, way)
    needed = {pattern for pattern in patterns if pattern not in MAY_BE_ABSENT}

    def missing():
        found = entities(graph, node, kind, way)
        return {each for each in needed if not any(fnmatchcase(name, each) for name in found)}

    graph.wait(lambda: not missing(), f'{kind} of {node}: {way}', 30.0)
    found = entities(graph, node, kind, way)
    assert found
    matched = {name for name in found for each in patterns if fnmatchcase(name, each)}
    assert found == matched


@pytest.mark.parametrize(('kind', 'way'), [each for each in ENTITIES if each[1] != 'request'])
def test_policy_of_the_node_is_what_a_running_node_has(secured, repository, kind, way):
    """A name that the policy lacks would be refused on a secured graph."""
    compare(secured, repository, 'ik_node', kind, way)


def test_policy_of_the_page_is_what_a_running_page_has(secured, repository):
    pytest.importorskip('viser')
    secured.start('view', 'ik_node', 'view', '--ros', '--port', str(own_port(50)))
    secured.wait(lambda: 'open http' in secured.log('view'), 'the page')
    for kind, way in ENTITIES:
        compare(secured, repository, 'ik_node_view', kind, way)


def test_optional_entities_are_those_of_the_code(repository):
    """Names of entities that need other packages stand in the code as in the policy."""
    code = ''.join(path.read_text() for path in (repository / 'ik_node' / 'ros').rglob('*.py'))
    for kind, way, constant in (
        ('services', 'reply', 'SERVICE'),
        ('actions', 'execute', 'ACTION'),
        ('topics', 'subscribe', 'TOPIC'),
    ):
        names = re.findall(rf"^{constant} = '(?:~/)?(.*)'", code, re.MULTILINE)
        assert names
        assert {f'/ik_node/{name}' for name in names} <= allowed(repository, 'ik_node', kind, way)
    (topics,) = re.findall(r"^TOPICS = '~?/?(.*)'", code, re.MULTILINE)
    published = allowed(repository, 'ik_node', 'topics', 'publish')
    assert f'/ik_node/{topics.removeprefix("ik_node/")}/update' in published

"""What docs/moveit.md shows fits the robot and the code."""

import re
import xml.etree.ElementTree as ElementTree

from ik_node.ros.moveit import SERVICE
import pytest
from support.ik_asking import Asking
from support.moveit_messages import GetPositionIK
from support.naive import motion
import yaml


@pytest.fixture(scope='module')
def text(repository):
    return (repository / 'docs' / 'moveit.md').read_text()


@pytest.fixture(scope='module')
def srdf(text):
    (block,) = re.findall(r'^```xml\n(.*?)^```', text, flags=re.DOTALL | re.MULTILINE)
    return ElementTree.fromstring(block)


@pytest.fixture
def hexapod(urdf):
    return Asking(urdf('hexapod'))


def fill(message, values):
    """Write a mapping of fields to values into a message, as `ros2 service call` does."""
    for name, value in values.items():
        if isinstance(value, dict):
            fill(getattr(message, name), value)
        else:
            setattr(message, name, value)


def test_srdf_lists_exactly_the_passive_joints(srdf, hexapod):
    named = [joint.get('name') for joint in srdf.findall('passive_joint')]
    assert sorted(named) == sorted(set(hexapod.names) - set(hexapod.robot.actuated))
    assert len(hexapod.robot.actuated) == 6


def test_the_call_is_answered(text, hexapod):
    ((service, block),) = re.findall(r'^ros2 service call (\S+) \S+ "(.*)"$', text, flags=re.M)
    assert service == SERVICE.replace('~', '/ik_node')
    request = GetPositionIK.Request()
    fill(request, yaml.safe_load(block))
    response = hexapod.ask(request)
    hexapod.check(response, {'platform_link': motion((0.004, 0.0, 0.09, 0, 0, 0))})
    count = len(response.solution.joint_state.name)
    assert f'names all {count} joints' in ' '.join(text.split())

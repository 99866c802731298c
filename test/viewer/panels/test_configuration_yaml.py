"""A configuration as text that the node reads."""

from hypothesis import given
from hypothesis import strategies as st
from ik_node.ros.parameters.joint_settings import parse_joint_values
from ik_node.viewer.panels.controls import configuration_yaml
import pytest


def test_each_joint_has_a_line():
    """Joint, colon, value."""
    text = configuration_yaml(['hip', 'knee'], [0.5, -1.25])
    assert text == 'hip: 0.5\nknee: -1.25\n'


@pytest.mark.parametrize(
    'name', ['y', 'No', 'true', '1e3', '0x1f', 'a: b', "it's", '-', '#1', 'é']
)
def test_yaml_keywords_as_joint_names_are_read_back(name):
    """Whatever a joint is called, the node reads its name back."""
    assert parse_joint_values('rest_pose', configuration_yaml([name], [0.5])) == {name: 0.5}


@given(st.floats(-1e6, 1e6))
def test_yaml_values_are_read_back_unchanged(value):
    """To a billionth, small ones too, which YAML 1.1 would else read as text."""
    found = parse_joint_values('rest_pose', configuration_yaml(['hip'], [value]))
    assert found['hip'] == pytest.approx(value, abs=1e-9)


def test_robot_without_joints_gives_an_empty_mapping():
    """A robot without joints has an empty mapping."""
    assert parse_joint_values('rest_pose', configuration_yaml([], [])) == {}

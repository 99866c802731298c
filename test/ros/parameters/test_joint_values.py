"""Mappings of joints to values in the text of a parameter."""

from ik_node.errors import OptionError
from ik_node.ros.parameters.settings import parse_joint_values
import pytest


def test_yaml_mapping_is_read():
    """Flow and block style are allowed; 1e-3 is a number although YAML 1.1 reads a text."""
    for text, expected in [
        ('', {}),
        ('  ', {}),
        ('{}', {}),
        ('{a: 1, b: -0.5}', {'a': 1.0, 'b': -0.5}),
        ('a: 1e-3\nb: 2', {'a': 0.001, 'b': 2.0}),
        ('{"ball.EX": 0.1}', {'ball.EX': 0.1}),
    ]:
        assert parse_joint_values('rest_pose', text) == expected


def test_text_without_mapping_of_numbers_is_refused():
    for text, words in [
        ('{a: 1', 'rest_pose.*YAML mapping.*not valid YAML'),
        ('[1, 2]', r"rest_pose: '\[1, 2\]' cannot be used.*YAML mapping"),
        ('0.5', 'YAML mapping'),
        ('{a: fast}', "{'a': 'fast'}.*finite numbers"),
        ('{a: true}', 'finite numbers'),
        ('{a: .nan}', 'finite numbers'),
        ('{a: .inf}', 'finite numbers'),
        ('{a: [1]}', 'finite numbers'),
        ('{a: }', 'finite numbers'),
        ('{1: 0.5}', 'joint names must be text'),
        ('{a: 1, a: 2}', 'occurs twice'),
        ('{a: 1' + '0' * 400 + '}', 'finite numbers'),
    ]:
        with pytest.raises(OptionError, match=words):
            parse_joint_values('rest_pose', text)

"""Names that become parts of topics."""

from ik_node.errors import OptionError
from ik_node.ros.messages.names import topic_part, topic_parts
import pytest


@pytest.mark.parametrize(
    ('name', 'part'),
    [
        ('platform', 'platform'),
        ('left hand', 'left_hand'),
        ('7th', 'n7th'),
        ('ü', '_'),
        ('a/b.c', 'a_b_c'),
    ],
)
def test_topic_part_has_only_allowed_characters(name, part):
    """Others become an underscore; a leading digit gets an n before it."""
    assert topic_part(name) == part


def test_names_with_equal_topic_parts_are_refused():
    """The error contains both names and their common part."""
    with pytest.raises(OptionError, match=r"closure names.*'a b', 'a-b'.*'a_b'"):
        topic_parts(['a b', 'a-b'], 'closure')

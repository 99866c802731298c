"""Names that become parts of topics."""

from ik_node.errors import OptionError
from ik_node.ros.messages.topic_names import topic_part, topic_parts
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
def test_topic_part(name, part):
    """What a topic may not hold becomes an underscore; a leading digit gets an n."""
    assert topic_part(name) == part


def test_two_names_that_fall_together_are_refused():
    """Both names and what they become are in the message."""
    with pytest.raises(OptionError, match=r"closure names.*'a b', 'a-b'.*'a_b'"):
        topic_parts(['a b', 'a-b'], 'closure')

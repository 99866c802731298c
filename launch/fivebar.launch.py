"""Start ik_node for our fivebar: send positions to ik_node/goals/tool."""

from ik_node.gallery.launch_item import launch_item


def generate_launch_description():
    """Return the general launch description with what the fivebar needs."""
    return launch_item('fivebar')

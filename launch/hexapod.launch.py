"""Start ik_node for our hexapod: send poses to ik_node/goals/platform."""

from ik_node.gallery.launch_item import launch_item


def generate_launch_description():
    """Return the general launch description with what the hexapod needs."""
    return launch_item('hexapod')

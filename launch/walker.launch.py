"""Start ik_node for our walker: send poses of its body to ik_node/goals/body."""

from ik_node.gallery.launch_item import launch_item


def generate_launch_description():
    """Return the general launch description with what the walker needs."""
    return launch_item('walker')

"""Start ik_node for our gripper: send the left tip's x to ik_node/goals/grip."""

from ik_node.gallery.launch_item import launch_item


def generate_launch_description():
    """Return the general launch description with what the gripper needs."""
    return launch_item('gripper')

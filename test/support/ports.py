"""Ports that no other run of the tests on this machine uses."""

import os

# The domain of a run is its own as long as it lasts, and so are these. They end below the ports
# that Linux gives to outgoing connections (32768), and begin above those of the node and the page.
FIRST, FOR_EACH = 21000, 100


def own_port(number: int) -> int:
    return FIRST + FOR_EACH * int(os.environ['ROS_DOMAIN_ID']) + number

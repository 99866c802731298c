"""
The ROS 2 node around the library: the only place that imports rclpy and message packages.

In this package, `settings` are the parameters of a tick, `now` is the time of the node's clock
[s], `stamp` a time as a message, `model` the robot with its solver, `tracker` its configuration
from tick to tick, and `q` (nq,) a configuration [rad or m]. A `note` or a `reason` is a text that
is empty where there is nothing to say. Other arguments are described where they stand.
"""

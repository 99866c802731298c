"""The ROS 2 node around the library: the only place that imports rclpy and message packages."""

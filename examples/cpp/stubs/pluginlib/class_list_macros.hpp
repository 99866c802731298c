// Stub: the plugin registers itself in a ROS 2 package only.
#pragma once
#define PLUGINLIB_EXPORT_CLASS(type, base) \
  static_assert(std::is_base_of_v<base, type>, "a plugin of the base class");

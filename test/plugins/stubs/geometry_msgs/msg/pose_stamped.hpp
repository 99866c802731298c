// Stub.
#pragma once

#include <string>

#include "geometry_msgs/msg/pose.hpp"

namespace geometry_msgs::msg
{

struct Header
{
  Header() {}
  std::string frame_id;
};

struct PoseStamped
{
  PoseStamped() {}
  Header header;
  Pose pose;
};

}  // namespace geometry_msgs::msg

// Stub. As the real messages, these are no aggregates.
#pragma once

namespace geometry_msgs::msg
{

struct Point
{
  Point() {}
  double x = 0.0, y = 0.0, z = 0.0;
};

struct Quaternion
{
  Quaternion() {}
  double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
};

struct Pose
{
  Pose() {}
  Point position;
  Quaternion orientation;
};

}  // namespace geometry_msgs::msg

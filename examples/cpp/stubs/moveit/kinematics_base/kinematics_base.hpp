// Stub: the few declarations of MoveIt that moveit_plugin.cpp needs to be compiled without it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rclcpp
{
class Node;
}

namespace geometry_msgs::msg
{
struct Point { double x = 0.0, y = 0.0, z = 0.0; };
struct Quaternion { double x = 0.0, y = 0.0, z = 0.0, w = 1.0; };
struct Pose { Point position; Quaternion orientation; };
}

namespace moveit_msgs::msg
{
struct MoveItErrorCodes
{
  static constexpr int SUCCESS = 1, NO_IK_SOLUTION = -31, TIMED_OUT = -6;
  int val = 0;
};
}

namespace moveit::core
{
class RobotModel;
}

namespace kinematics
{
struct KinematicsQueryOptions {};

class KinematicsBase
{
public:
  using IKCallbackFn = std::function<void(
        const geometry_msgs::msg::Pose &, const std::vector<double> &,
        moveit_msgs::msg::MoveItErrorCodes &)>;

  virtual ~KinematicsBase() = default;
  virtual bool initialize(
    const std::shared_ptr<rclcpp::Node> & node, const moveit::core::RobotModel & model,
    const std::string & group, const std::string & base, const std::vector<std::string> & tips,
    double discretization) = 0;
  virtual bool getPositionIK(
    const geometry_msgs::msg::Pose & pose, const std::vector<double> & seed,
    std::vector<double> & solution, moveit_msgs::msg::MoveItErrorCodes & code,
    const KinematicsQueryOptions & options) const = 0;
  virtual bool searchPositionIK(
    const geometry_msgs::msg::Pose & pose, const std::vector<double> & seed, double timeout,
    const std::vector<double> & consistency_limits, std::vector<double> & solution,
    const IKCallbackFn & callback, moveit_msgs::msg::MoveItErrorCodes & code,
    const KinematicsQueryOptions & options) const = 0;
  virtual bool getPositionFK(
    const std::vector<std::string> & links, const std::vector<double> & q,
    std::vector<geometry_msgs::msg::Pose> & poses) const = 0;
  virtual const std::vector<std::string> & getJointNames() const = 0;
  virtual const std::vector<std::string> & getLinkNames() const = 0;
};
}  // namespace kinematics

// Stub of the class that MoveIt's kinematics plugins derive from, with the same pure virtual
// functions and arguments.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "geometry_msgs/msg/pose.hpp"
#include "moveit/robot_model/robot_model.hpp"
#include "moveit_msgs/msg/move_it_error_codes.hpp"
#include "rclcpp/rclcpp.hpp"

namespace moveit::core
{
class RobotState;
}

namespace kinematics
{

namespace DiscretizationMethods
{
enum DiscretizationMethod
{
  NO_DISCRETIZATION = 1, ALL_DISCRETIZED, SOME_DISCRETIZED, ALL_RANDOM_SAMPLED, SOME_RANDOM_SAMPLED
};
}
using DiscretizationMethod = DiscretizationMethods::DiscretizationMethod;

namespace KinematicErrors
{
enum KinematicError
{
  OK = 1, UNSUPORTED_DISCRETIZATION_REQUESTED, DISCRETIZATION_NOT_INITIALIZED,
  MULTIPLE_TIPS_NOT_SUPPORTED, EMPTY_TIP_POSES, IK_SEED_OUTSIDE_LIMITS, SOLVER_NOT_ACTIVE,
  NO_SOLUTION
};
}
using KinematicError = KinematicErrors::KinematicError;

struct KinematicsQueryOptions
{
  bool lock_redundant_joints = false;
  bool return_approximate_solution = false;
  DiscretizationMethod discretization_method = DiscretizationMethods::NO_DISCRETIZATION;
};

struct KinematicsResult
{
  KinematicError kinematic_error;
  double solution_percentage;
};

class KinematicsBase
{
public:
  using Pose = geometry_msgs::msg::Pose;
  using Code = moveit_msgs::msg::MoveItErrorCodes;
  using Values = std::vector<double>;
  using Options = KinematicsQueryOptions;
  using IKCallbackFn = std::function<void(const Pose &, const Values &, Code &)>;

  virtual ~KinematicsBase() = default;

  virtual bool getPositionIK(
    const Pose &, const Values &, Values &, Code &, const Options & = {}) const = 0;
  virtual bool getPositionIK(
    const std::vector<Pose> &, const Values &, std::vector<Values> &, KinematicsResult &,
    const Options &) const {return false;}
  virtual bool searchPositionIK(
    const Pose &, const Values &, double, Values &, Code &, const Options & = {}) const = 0;
  virtual bool searchPositionIK(
    const Pose &, const Values &, double, const Values &, Values &, Code &,
    const Options & = {}) const = 0;
  virtual bool searchPositionIK(
    const Pose &, const Values &, double, Values &, const IKCallbackFn &, Code &,
    const Options & = {}) const = 0;
  virtual bool searchPositionIK(
    const Pose &, const Values &, double, const Values &, Values &, const IKCallbackFn &, Code &,
    const Options & = {}) const = 0;
  virtual bool searchPositionIK(
    const std::vector<Pose> &, const Values &, double, const Values &, Values &,
    const IKCallbackFn &, Code &, const Options & = {},
    const moveit::core::RobotState * = nullptr) const {return false;}
  virtual bool getPositionFK(
    const std::vector<std::string> &, const Values &, std::vector<Pose> &) const = 0;
  virtual bool initialize(
    const rclcpp::Node::SharedPtr &, const moveit::core::RobotModel &, const std::string &,
    const std::string &, const std::vector<std::string> &, double) {return false;}
  virtual const std::vector<std::string> & getJointNames() const = 0;
  virtual const std::vector<std::string> & getLinkNames() const = 0;
  virtual bool supportsGroup(
    const moveit::core::JointModelGroup *, std::string * = nullptr) const {return false;}
  virtual const std::vector<std::string> & getTipFrames() const {return tip_frames_;}

  virtual bool setRedundantJoints(const std::vector<unsigned int> & indices)
  {
    redundant_joint_indices_ = indices;
    return true;
  }

protected:
  void storeValues(
    const moveit::core::RobotModel & model, const std::string & group, const std::string & base,
    const std::vector<std::string> & tips, double)
  {
    robot_model_ = moveit::core::RobotModelConstPtr(&model, [](const auto *) {});
    group_name_ = group;
    base_frame_ = base;
    tip_frames_ = tips;
  }

  rclcpp::Node::SharedPtr node_;
  moveit::core::RobotModelConstPtr robot_model_;
  std::string group_name_, base_frame_;
  std::vector<std::string> tip_frames_;
  std::vector<unsigned int> redundant_joint_indices_;
};

}  // namespace kinematics

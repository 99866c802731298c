// Stub of the class that kinematics plugins derive from, version 2: with the difference of frames.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include <memory>
#include <string>

#include "rclcpp/rclcpp.hpp"

namespace kinematics_interface
{

class KinematicsInterface
{
public:
  using Joints = Eigen::VectorXd;
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  using Vector7 = Eigen::Matrix<double, 7, 1>;

  virtual ~KinematicsInterface() = default;
  virtual bool initialize(
    const std::string &, std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface>,
    const std::string &) = 0;
  virtual bool convert_cartesian_deltas_to_joint_deltas(
    const Joints &, const Vector6 &, const std::string &, Joints &) = 0;
  virtual bool convert_joint_deltas_to_cartesian_deltas(
    const Joints &, const Joints &, const std::string &, Vector6 &) = 0;
  virtual bool calculate_link_transform(
    const Joints &, const std::string &, Eigen::Isometry3d &) = 0;
  virtual bool calculate_jacobian(
    const Joints &, const std::string &, Eigen::Matrix<double, 6, Eigen::Dynamic> &) = 0;
  virtual bool calculate_jacobian_inverse(
    const Joints &, const std::string &, Eigen::Matrix<double, Eigen::Dynamic, 6> &) = 0;
  virtual bool calculate_frame_difference(Vector7 &, Vector7 &, double, Vector6 &) = 0;
};

}  // namespace kinematics_interface

// The kinematics_interface plugin of ik_node: forward kinematics and Jacobians for arms, and for
// robots with loops whose positions are those of their motors.
//
// A call allocates nothing if the matrices of the caller have the right size.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ik_node/ik_node.hpp"
#include "kinematics_interface/kinematics_interface.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/logging.hpp"

namespace ik_node_ros2_control
{

class Kinematics : public kinematics_interface::KinematicsInterface
{
public:
  using Joints = Eigen::VectorXd;
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;
  using Inverse = Eigen::Matrix<double, Eigen::Dynamic, 6>;
  using Parameters = std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface>;

  // The robot comes from a file; a description says only that the caller has one.
  bool initialize(
    const std::string & description, Parameters parameters, const std::string & prefix) override
  {
    const std::string start = prefix.empty() ? "" : prefix + ".";
    problem_.reset();
    try {
      if (description.empty() && (!parameters->has_parameter("robot_description") ||
        parameters->get_parameter("robot_description").as_string().empty()))
      {
        return refuse("there is no robot description");
      }
      const std::string file = text(*parameters, start + "ikr_file");
      if (file.empty()) {
        return refuse("set the parameter " + start + "ikr_file to a file of `ik_node export`");
      }
      damping_ = value(*parameters, start + "alpha", rclcpp::ParameterValue(5e-6)).as_double();
      const ik_node::Robot robot(file);
      const std::string base = text(*parameters, start + "base");
      const std::string tip = text(*parameters, start + "tip");
      base_ = base.empty() ? root_of(robot) : robot.find(IK_NODE_LINKS, base);
      const int last = robot.find(IK_NODE_LINKS, tip);
      if (base_ < 0 || last < 0) {
        return refuse("there is no link '" + (base_ < 0 ? base : tip) + "' in " + file);
      }
      open(robot, last);
    } catch (const std::exception & error) {
      problem_.reset();
      return refuse(error.what());
    }
    return true;
  }

  bool convert_cartesian_deltas_to_joint_deltas(
    const Joints & position, const Vector6 & motion, const std::string & link,
    Joints & deltas) override
  {
    if (!is_usable(position) || !is_usable(deltas) || !solve(position, link)) {
      return false;
    }
    deltas.noalias() = jacobian_.transpose() * (damped() * motion);
    return true;
  }

  bool convert_joint_deltas_to_cartesian_deltas(
    const Joints & position, const Joints & deltas, const std::string & link,
    Vector6 & motion) override
  {
    if (!is_usable(position) || !is_usable(deltas) || !solve(position, link)) {
      return false;
    }
    motion.noalias() = jacobian_ * deltas;
    return true;
  }

  bool calculate_link_transform(
    const Joints & position, const std::string & link, Eigen::Isometry3d & transform) override
  {
    if (!is_usable(position) || !move(position, link)) {
      return false;
    }
    transform = pose(base_).inverse() * pose(link_);
    return true;
  }

  bool calculate_jacobian(
    const Joints & position, const std::string & link, Jacobian & jacobian) override
  {
    if (!is_usable(position) || !has_columns(jacobian.cols()) || !solve(position, link)) {
      return false;
    }
    jacobian = jacobian_;
    return true;
  }

  bool calculate_jacobian_inverse(
    const Joints & position, const std::string & link, Inverse & inverse) override
  {
    if (!is_usable(position) || !has_columns(inverse.rows()) || !solve(position, link)) {
      return false;
    }
    inverse.noalias() = jacobian_.transpose() * damped();
    return true;
  }

  // Pure virtual since version 2 of the interface; version 1 does not have it. The rotation is the
  // one from a to b, in the axes in which both are given.
  // NOLINTNEXTLINE: no `override`, because version 1 has nothing to override
  virtual bool calculate_frame_difference(
    Eigen::Matrix<double, 7, 1> & a, Eigen::Matrix<double, 7, 1> & b, double dt, Vector6 & motion)
  {
    if (!(dt > 0.0)) {
      return refuse("the period of a frame difference must be above 0");
    }
    const Eigen::Quaterniond from(a[6], a[3], a[4], a[5]), to(b[6], b[3], b[4], b[5]);
    const Eigen::AngleAxisd turned(to.normalized() * from.normalized().conjugate());
    motion << (b.head<3>() - a.head<3>()) / dt, turned.angle() / dt * turned.axis();
    return true;
  }

private:
  static bool refuse(const std::string & why)
  {
    RCLCPP_ERROR(rclcpp::get_logger("ik_node_ros2_control"), "kinematics: %s", why.c_str());
    return false;
  }

  // Controllers declare the parameters of the plugins that they know: `ikr_file` is none of them.
  static rclcpp::Parameter value(
    rclcpp::node_interfaces::NodeParametersInterface & parameters, const std::string & name,
    const rclcpp::ParameterValue & otherwise)
  {
    if (!parameters.has_parameter(name)) {
      parameters.declare_parameter(name, otherwise);
    }
    return parameters.get_parameter(name);
  }

  static std::string text(
    rclcpp::node_interfaces::NodeParametersInterface & parameters, const std::string & name)
  {
    return value(parameters, name, rclcpp::ParameterValue(std::string())).as_string();
  }

  // The root is the link that no joint moves; of several, those fixed to it come later.
  static int root_of(const ik_node::Robot & robot) {return robot.count(IK_NODE_LINKS) > 0 ? 0 : -1;}

  void open(const ik_node::Robot & robot, int tip)
  {
    const std::size_t joints = std::size_t(robot.count(IK_NODE_JOINTS));
    problem_.emplace(robot);
    transmission_.reset();
    q_.assign(robot.start(), robot.start() + joints);
    poses_.resize(7 * std::size_t(robot.count(IK_NODE_LINKS)));
    rows_.resize(6, Eigen::Index(joints));
    base_rows_ = rows_;
    relative_ = rows_;
    moved_.clear();
    if (robot.count(IK_NODE_ACTUATORS) > 0) {
      transmission_.emplace(robot);
      transmission_->start();
      size_ = robot.count(IK_NODE_ACTUATORS);
    } else {
      // Without a transmission, the joints that move the tip relative to the base.
      std::vector<double> nearby = q_;
      for (std::size_t k = 0; k < joints; k++) {
        nearby[k] += 0.1 + 0.01 * double(k % 7);
      }
      ik_node_follow(robot.get(), nearby.data());
      differentiate(nearby.data(), tip);
      for (Eigen::Index k = 0; k < Eigen::Index(joints); k++) {
        if (relative_.col(k).norm() > 1e-9) {
          moved_.push_back(k);
        }
      }
      size_ = int(moved_.size());
    }
    jacobian_.resize(6, size_);
  }

  bool is_usable(const Joints & values) const
  {
    return has_columns(values.size());
  }

  bool has_columns(Eigen::Index count) const
  {
    if (!problem_) {
      return refuse("initialize the plugin first");
    }
    return count == size_ || refuse(
      "there are " + std::to_string(size_) + " joints, not " + std::to_string(count));
  }

  // Set all joints of the robot, with closed loops, and find a link.
  bool move(const Joints & position, const std::string & link)
  {
    link_ = problem_->robot().find(IK_NODE_LINKS, link);
    if (link_ < 0) {
      return refuse("there is no link '" + link + "'");
    }
    if (transmission_) {
      const bool closed = transmission_->to_joints(position.data()) == IK_NODE_CONVERGED;
      if (!closed) {
        if (was_closed_) {  // once, not at each tick
          refuse("no position of the joints closes the loops at these positions of the motors");
        }
        was_closed_ = false;
        return false;
      }
      was_closed_ = true;
      std::copy_n(transmission_->q(), q_.size(), q_.begin());
    } else {
      for (std::size_t k = 0; k < moved_.size(); k++) {
        q_[std::size_t(moved_[k])] = position[Eigen::Index(k)];
      }
      ik_node_follow(problem_->robot().get(), q_.data());
    }
    return problem_->forward(q_.data(), poses_.data()) == 0 || refuse("a position is not finite");
  }

  // Compute the Jacobian of a link relative to the base, in axes of the base.
  bool solve(const Joints & position, const std::string & link)
  {
    if (!move(position, link)) {
      return false;
    }
    differentiate(q_.data(), link_);
    if (transmission_) {
      using Motion = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const Eigen::Map<const Motion> motion((*transmission_)[IK_NODE_MOTION], rows_.cols(), size_);
      jacobian_.noalias() = relative_ * motion;
    } else {
      for (std::size_t k = 0; k < moved_.size(); k++) {
        jacobian_.col(Eigen::Index(k)) = relative_.col(moved_[k]);
      }
    }
    return true;
  }

  void differentiate(const double * q, int link)
  {
    problem_->forward(q, poses_.data());
    problem_->jacobian(q, base_, base_rows_.data());
    problem_->jacobian(q, link, rows_.data());
    const Eigen::Matrix3d axes = pose(base_).linear().transpose();
    const Eigen::Vector3d arm = pose(link).translation() - pose(base_).translation();
    for (Eigen::Index k = 0; k < rows_.cols(); k++) {
      const Eigen::Vector3d turning = base_rows_.col(k).tail<3>();
      relative_.col(k).head<3>() =
        axes * (rows_.col(k).head<3>() - base_rows_.col(k).head<3>() - turning.cross(arm));
      relative_.col(k).tail<3>() = axes * (rows_.col(k).tail<3>() - turning);
    }
  }

  Eigen::Isometry3d pose(int link) const
  {
    const double * p = poses_.data() + 7 * link;
    Eigen::Isometry3d made = Eigen::Isometry3d::Identity();
    made.translation() = Eigen::Vector3d(p[0], p[1], p[2]);
    made.linear() = Eigen::Quaterniond(p[6], p[3], p[4], p[5]).toRotationMatrix();
    return made;
  }

  // Return (J J^T + alpha I)^-1: the damped inverse of J is J^T times it.
  Eigen::Matrix<double, 6, 6> damped() const
  {
    Eigen::Matrix<double, 6, 6> square = damping_ * Eigen::Matrix<double, 6, 6>::Identity();
    square.noalias() += jacobian_ * jacobian_.transpose();
    return square.inverse();
  }

  std::optional<ik_node::Problem> problem_;
  std::optional<ik_node::Transmission> transmission_;  // of a file with motors and loops
  double damping_ = 0.0;                               // alpha
  int base_ = -1, link_ = -1, size_ = 0;
  bool was_closed_ = true;
  std::vector<double> q_, poses_;
  std::vector<Eigen::Index> moved_;  // joints of the chain
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> rows_, base_rows_, relative_;
  Jacobian jacobian_;
};

}  // namespace ik_node_ros2_control

PLUGINLIB_EXPORT_CLASS(
  ik_node_ros2_control::Kinematics, kinematics_interface::KinematicsInterface)

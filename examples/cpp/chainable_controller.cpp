// Skeleton of a chainable ros2_control controller: poses of goals in, positions of motors out. It
// is compiled against stub headers only and has never run in ros2_control: a base for your own,
// not a finished controller.
//
// `update_and_write_commands` runs in the real-time loop. It allocates nothing and takes no lock.
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "ik_node/ik_node.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace ik_node_examples
{

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

class ChainableController : public controller_interface::ChainableControllerInterface
{
public:
  CallbackReturn on_init() override {return CallbackReturn::SUCCESS;}

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    try {
      problem_ = std::make_unique<ik_node::Problem>(ik_node::Robot(parameter("ikr_file")));
    } catch (const ik_node::Error &) {
      return CallbackReturn::ERROR;  // a controller logs error.what()
    }
    const ik_node::Robot & robot = problem_->robot();
    const int joints = robot.count(IK_NODE_JOINTS), goals = robot.count(IK_NODE_GOALS);
    motors_.clear();
    for (int joint = 0; joint < joints; joint++) {
      if (robot.is_actuated(joint)) {
        motors_.push_back(joint);
      }
    }
    q_.assign(robot.start(), robot.start() + joints);
    positions_.resize(3 * std::size_t(goals));
    quats_.resize(4 * std::size_t(goals));
    reference_interfaces_.assign(7 * std::size_t(goals), 0.0);
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    const ik_node::Robot & robot = problem_->robot();
    q_.assign(robot.start(), robot.start() + robot.count(IK_NODE_JOINTS));
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override
  {
    InterfaceConfiguration made{interface_configuration_type::INDIVIDUAL, {}};
    for (const int joint : motors_) {
      made.names.push_back(
        std::string(problem_->robot().name(IK_NODE_JOINTS, joint)) + "/" +
        hardware_interface::HW_IF_POSITION);
    }
    return made;
  }

  InterfaceConfiguration state_interface_configuration() const override
  {
    return {interface_configuration_type::NONE, {}};
  }

protected:
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override
  {
    static const char * const kParts[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
    std::vector<hardware_interface::CommandInterface> made;
    for (std::size_t at = 0; at < reference_interfaces_.size(); at++) {
      const char * goal = problem_->robot().name(IK_NODE_GOALS, int(at / 7));
      made.emplace_back(
        name(), std::string(goal) + "/" + kParts[at % 7], &reference_interfaces_[at]);
    }
    return made;
  }

  return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) override
  {
    return return_type::OK;  // a controller copies the latest message from a real-time buffer
  }

  return_type update_and_write_commands(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    for (std::size_t goal = 0; 3 * goal < positions_.size(); goal++) {
      const double * pose = &reference_interfaces_[7 * goal];
      for (std::size_t k = 0; k < 7; k++) {
        (k < 3 ? positions_[3 * goal + k] : quats_[4 * goal + k - 3]) = pose[k];
      }
    }
    const int status = problem_->solve(q_.data(), positions_.data(), quats_.data(), kBudget);
    if (status < 0) {
      return return_type::ERROR;
    }
    if (status != IK_NODE_CONVERGED) {
      return return_type::OK;  // the motors keep their last command
    }
    q_.assign(problem_->q(), problem_->q() + q_.size());  // the size is the same: no allocation
    for (std::size_t at = 0; at < motors_.size() && at < command_interfaces_.size(); at++) {
      command_interfaces_[at].set_value(q_[std::size_t(motors_[at])]);
    }
    return return_type::OK;
  }

private:
  static constexpr int kBudget = 100;  // steps of one cycle

  std::unique_ptr<ik_node::Problem> problem_;
  std::vector<int> motors_;
  std::vector<double> q_, positions_, quats_;
};

}  // namespace ik_node_examples

PLUGINLIB_EXPORT_CLASS(
  ik_node_examples::ChainableController, controller_interface::ChainableControllerInterface)

// A chainable ros2_control controller of ik_node: poses of goals in, positions of motors out.
//
// `update_and_write_commands` runs in the real-time loop. It allocates nothing and waits for no
// lock.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "ik_node/ik_node.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_thread_safe_box.hpp"

namespace ik_node_ros2_control
{

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

namespace
{

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kClosed = 1e-6;  // largest residual of a closed loop [m, rad]
constexpr double kShare = 0.05;   // of the largest step of a cycle: less is no motion
constexpr std::array<const char *, 7> kParts = {"x", "y", "z", "qx", "qy", "qz", "qw"};

using Reference = std::array<double, 7>;  // a pose; NaN = keep the last one

}  // namespace

class Controller : public controller_interface::ChainableControllerInterface
{
public:
  CallbackReturn on_init() override
  {
    auto_declare<std::string>("ikr_file", "");
    auto_declare<int>("steps", 100);
    auto_declare<double>("max_joint_step", 0.05);
    auto_declare<double>("error_after", 0.5);
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    const auto node = get_node();
    const std::string file = node->get_parameter("ikr_file").as_string();
    steps_ = int(node->get_parameter("steps").as_int());
    max_joint_step_ = node->get_parameter("max_joint_step").as_double();
    error_after_ = node->get_parameter("error_after").as_double();
    if (file.empty() || steps_ < 1 || !(max_joint_step_ > 0.0) || !(error_after_ >= 0.0)) {
      return refuse(
        "ikr_file must name a file of `ik_node export`, steps and max_joint_step must be above 0, "
        "error_after not below 0");
    }
    try {
      open(ik_node::Robot(file));
    } catch (const std::exception & error) {
      return refuse(error.what());
    }
    return motors_.empty() || references_.empty() ? refuse("a file needs goals and motors") :
           CallbackReturn::SUCCESS;
  }

  // Start at the measured positions, and hold them until a reference comes.
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    const ik_node::Robot & robot = problem_->robot();
    std::vector<double> measured(motors_.size());
    for (std::size_t k = 0; k < motors_.size(); k++) {
      const auto value = state_interfaces_.at(k).get_optional();
      if (!value || !std::isfinite(*value)) {
        return refuse("there is no position of motor '" + name_of(motors_[k]) + "'");
      }
      measured[k] = *value;
    }
    q_.assign(robot.start(), robot.start() + robot.count(IK_NODE_JOINTS));
    if (transmission_) {
      transmission_->start();
      if (transmission_->to_joints(measured.data()) != IK_NODE_CONVERGED) {
        return refuse("the loops cannot be closed at the measured positions of the motors");
      }
      std::copy_n(transmission_->q(), q_.size(), q_.begin());
    }
    for (std::size_t k = 0; k < motors_.size(); k++) {
      q_[std::size_t(motors_[k])] = measured[k];
    }
    ik_node_follow(robot.get(), q_.data());
    problem_->forward(q_.data(), poses_.data());
    for (std::size_t goal = 0; goal < references_.size(); goal++) {
      std::copy_n(poses_.begin() + 7 * links_[goal], 7, targets_[goal].begin());
      references_[goal]->set(empty());
    }
    std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), kNone);
    std::fill(state_interfaces_values_.begin(), state_interfaces_values_.end(), 0.0);
    failed_for_ = 0.0;
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override {return motors();}
  InterfaceConfiguration state_interface_configuration() const override {return motors();}

protected:
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override
  {
    reference_interfaces_.assign(7 * references_.size(), kNone);
    std::vector<hardware_interface::CommandInterface> made;
    for (std::size_t k = 0; k < reference_interfaces_.size(); k++) {
      made.emplace_back(
        get_node()->get_name() + std::string("/") + goal_name(k / 7), kParts[k % 7],
        &reference_interfaces_[k]);
    }
    return made;
  }

  std::vector<hardware_interface::StateInterface> on_export_state_interfaces() override
  {
    const std::string name = get_node()->get_name();
    state_interfaces_values_.assign(2 * references_.size() + 2, 0.0);
    std::vector<hardware_interface::StateInterface> made;
    double * value = state_interfaces_values_.data();
    made.emplace_back(name, "status", value++);
    made.emplace_back(name, "loop_error", value++);
    for (std::size_t goal = 0; goal < references_.size(); goal++) {
      made.emplace_back(name + "/" + goal_name(goal), "position_error", value++);
      made.emplace_back(name + "/" + goal_name(goal), "orientation_error", value++);
    }
    return made;
  }

  return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) override
  {
    for (std::size_t goal = 0; goal < references_.size(); goal++) {
      const auto latest = references_[goal]->try_get();  // empty while the subscriber writes
      if (latest) {
        std::copy(latest->begin(), latest->end(), reference_interfaces_.begin() + 7 * goal);
      }
    }
    return return_type::OK;
  }

  return_type update_and_write_commands(
    const rclcpp::Time &, const rclcpp::Duration & period) override
  {
    const bool asked = read_targets();
    bool moved = !asked;
    if (asked) {
      set_window();
      const int status = problem_->solve(q_.data(), positions_.data(), quats_.data(), steps_);
      moved = report(status);
      if (moved) {
        std::copy_n(problem_->q(), q_.size(), q_.begin());
      }
    }
    bool written = true;
    for (std::size_t k = 0; k < motors_.size(); k++) {
      written = command_interfaces_[k].set_value(q_[std::size_t(motors_[k])]) && written;
    }
    failed_for_ = moved ? 0.0 : failed_for_ + period.seconds();
    return failed_for_ > error_after_ ? return_type::ERROR : return_type::OK;
  }

private:
  CallbackReturn refuse(const std::string & why) const
  {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", why.c_str());
    return CallbackReturn::ERROR;
  }

  static Reference empty()
  {
    Reference made;
    made.fill(kNone);
    return made;
  }

  std::string name_of(int joint) const {return problem_->robot().name(IK_NODE_JOINTS, joint);}

  std::string goal_name(std::size_t goal) const
  {
    return problem_->robot().name(IK_NODE_GOALS, int(goal));
  }

  void open(const ik_node::Robot & robot)
  {
    const int joints = robot.count(IK_NODE_JOINTS), goals = robot.count(IK_NODE_GOALS);
    problem_.emplace(robot);
    transmission_.reset();
    motors_.clear();
    if (robot.count(IK_NODE_ACTUATORS) > 0) {
      transmission_.emplace(robot);
      for (int index = 0; index < robot.count(IK_NODE_ACTUATORS); index++) {
        motors_.push_back(robot.find(IK_NODE_JOINTS, robot.name(IK_NODE_ACTUATORS, index)));
      }
    } else if (robot.count(IK_NODE_CLOSURES) > 0) {
      throw std::runtime_error(
        "the file of a robot with loops needs its transmission: export it with --joints");
    } else {
      for (int joint = 0; joint < joints; joint++) {
        if (robot.is_actuated(joint)) {
          motors_.push_back(joint);
        }
      }
    }
    links_.clear();
    references_.clear();
    subscriptions_.clear();
    for (int goal = 0; goal < goals; goal++) {
      const std::string name = robot.name(IK_NODE_GOALS, goal);
      links_.push_back(robot.find(IK_NODE_LINKS, name));
      if (links_.back() < 0) {
        throw std::runtime_error("the goal '" + name + "' is not the name of a link");
      }
      references_.push_back(std::make_unique<realtime_tools::RealtimeThreadSafeBox<Reference>>());
      subscribe(name, *references_.back());
    }
    q_.assign(robot.start(), robot.start() + joints);
    lower_.assign(q_.size(), -std::numeric_limits<double>::infinity());
    upper_.assign(q_.size(), std::numeric_limits<double>::infinity());
    poses_.resize(7 * std::size_t(robot.count(IK_NODE_LINKS)));
    targets_.assign(std::size_t(goals), empty());
    positions_.resize(3 * std::size_t(goals));
    quats_.resize(4 * std::size_t(goals));
  }

  // The topics have the names of those of the node.
  void subscribe(
    const std::string & goal, realtime_tools::RealtimeThreadSafeBox<Reference> & reference)
  {
    using Message = geometry_msgs::msg::PoseStamped;
    reference.set(empty());
    subscriptions_.push_back(
      get_node()->create_subscription<Message>(
        "~/goals/" + goal, rclcpp::SystemDefaultsQoS(), [&reference](const Message & message) {
          const auto & p = message.pose.position;
          const auto & r = message.pose.orientation;
          reference.set(Reference{p.x, p.y, p.z, r.x, r.y, r.z, r.w});
        }));
  }

  InterfaceConfiguration motors() const
  {
    InterfaceConfiguration made{interface_configuration_type::INDIVIDUAL, {}};
    for (const int joint : motors_) {
      made.names.push_back(name_of(joint) + "/" + hardware_interface::HW_IF_POSITION);
    }
    return made;
  }

  // Take references that are numbers; return True if there is one, or if a motion is unfinished.
  bool read_targets()
  {
    bool asked = false;
    for (std::size_t goal = 0; goal < targets_.size(); goal++) {
      const double * given = &reference_interfaces_[7 * goal];
      Reference & target = targets_[goal];
      for (std::size_t k = 0; k < 3; k++) {
        if (std::isfinite(given[k])) {
          target[k] = given[k];
          asked = true;
        }
      }
      if (std::all_of(given + 3, given + 7, [](double each) {return std::isfinite(each);})) {
        std::copy_n(given + 3, 4, target.begin() + 3);
        asked = true;
      }
      std::copy_n(target.begin(), 3, positions_.begin() + 3 * goal);
      std::copy_n(target.begin() + 3, 4, quats_.begin() + 4 * goal);
    }
    return asked;
  }

  // No motor moves farther than its share of a cycle.
  void set_window()
  {
    for (const int joint : motors_) {
      lower_[std::size_t(joint)] = q_[std::size_t(joint)] - max_joint_step_;
      upper_[std::size_t(joint)] = q_[std::size_t(joint)] + max_joint_step_;
    }
    problem_->limits(lower_.data(), upper_.data());
  }

  // Write the state interfaces; return true if the answer leads towards the goals.
  bool report(int status)
  {
    double * value = state_interfaces_values_.data();
    double loops = 0.0;
    *value++ = status;
    if (status < 0) {
      return false;
    }
    for (int k = 0; k < problem_->robot().count(IK_NODE_CLOSURES); k++) {
      const ik_node::Residual error = problem_->closure_error(k);
      loops = std::max({loops, error.position, error.orientation});
    }
    *value++ = loops;
    for (int goal = 0; goal < int(targets_.size()); goal++) {
      const ik_node::Residual error = problem_->goal_error(goal);
      *value++ = error.position;
      *value++ = error.orientation;
    }
    // A goal that is too far for one cycle is approached. One that is out of reach is not, because
    // the nearest configurations differ by rounding errors from cycle to cycle.
    double motion = 0.0;
    for (const int joint : motors_) {
      motion = std::max(motion, std::abs(problem_->q()[joint] - q_[std::size_t(joint)]));
    }
    const bool nearer =
      status == IK_NODE_STALLED && loops < kClosed && motion > kShare * max_joint_step_;
    return status == IK_NODE_CONVERGED || nearer;
  }

  std::optional<ik_node::Problem> problem_;
  std::optional<ik_node::Transmission> transmission_;
  int steps_ = 0;                                  // budget of one cycle
  double max_joint_step_ = 0.0;                    // of a motor in one cycle [rad or m]
  double error_after_ = 0.0, failed_for_ = 0.0;    // [s]
  std::vector<int> motors_, links_;                // joints with a motor; links of goals
  std::vector<double> q_, lower_, upper_, poses_, positions_, quats_;
  std::vector<Reference> targets_;
  std::vector<std::unique_ptr<realtime_tools::RealtimeThreadSafeBox<Reference>>> references_;
  std::vector<std::shared_ptr<rclcpp::SubscriptionBase>> subscriptions_;
};

}  // namespace ik_node_ros2_control

PLUGINLIB_EXPORT_CLASS(
  ik_node_ros2_control::Controller, controller_interface::ChainableControllerInterface)

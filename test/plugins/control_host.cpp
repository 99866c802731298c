// A small host of the ros2_control plugins: it obeys commands on its input, one a line, and answers
// each with one line on its output.
//
//   kinematics FILE BASE TIP ALPHA -> 1 | 0
//   transform LINK VALUE... -> 12 numbers, a row of the matrix after the other; refused
//   jacobian LINK VALUE...; inverse LINK VALUE...; rates LINK DELTA(6) VALUE...; refused
//   configure FILE MAX_STEP ERROR_AFTER -> 1 | 0
//   activate MEASURED... -> 1 | 0
//   chain NUMBER... the references; message GOAL NUMBER(7)
//   update COUNT -> errors, allocations, commands..., states...
//   load FILE JOINT,... ACTUATOR,... REDUCTION OFFSET -> 1 | 0
//   forward NUMBER..., backward NUMBER...: position, velocity, effort of one side -> of the other
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <sstream>

#include "controller_interface/chainable_controller_interface.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "kinematics_interface/kinematics_interface.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "transmission_interface/transmission_loader.hpp"

namespace
{

long allocations = 0;

template <typename Base>
std::shared_ptr<Base> made(const std::string & name)
{
  return pluginlib::classes<Base>().at("ik_node_ros2_control::" + name)();
}

std::vector<double> numbers(std::istream & in)
{
  std::vector<double> all;
  for (std::string word; in >> word; ) {
    all.push_back(std::stod(word));  // also nan
  }
  return all;
}

template <typename Values>
void print(const Values & values)
{
  for (Eigen::Index k = 0; k < Eigen::Index(values.size()); k++) {
    std::printf("%.17g ", values[k]);
  }
}

struct Kinematics
{
  using Row = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  std::shared_ptr<kinematics_interface::KinematicsInterface> plugin;

  bool open(std::istream & in)
  {
    auto node = std::make_shared<rclcpp::Node>();
    std::string file, base, tip;
    double alpha;
    in >> file >> base >> tip >> alpha;
    node->given["kinematics.ikr_file"] = file;
    node->given["kinematics.base"] = base == "-" ? "" : base;
    node->given["kinematics.tip"] = tip;
    node->given["kinematics.alpha"] = alpha;
    plugin = made<kinematics_interface::KinematicsInterface>("Kinematics");
    return plugin->initialize("<robot/>", node, "kinematics");
  }

  void answer(bool found, const Row & values)
  {
    const Eigen::Map<const Eigen::VectorXd> flat(values.data(), values.size());
    found ? print(flat) : void(std::printf("refused"));
  }

  void obey(const std::string & command, std::istream & in)
  {
    std::string link;
    in >> link;
    auto given = numbers(in);
    const std::size_t first = command == "rates" ? 6 : 0;
    const Eigen::VectorXd q =
      Eigen::Map<Eigen::VectorXd>(given.data() + first, Eigen::Index(given.size() - first));
    if (command == "transform") {
      Eigen::Isometry3d transform;
      const bool found = plugin->calculate_link_transform(q, link, transform);
      answer(found, transform.matrix().topRows<3>());
    } else if (command == "jacobian") {
      Eigen::Matrix<double, 6, Eigen::Dynamic> jacobian(6, q.size());
      const bool found = plugin->calculate_jacobian(q, link, jacobian);
      answer(found, jacobian);
    } else if (command == "inverse") {
      Eigen::Matrix<double, Eigen::Dynamic, 6> inverse(q.size(), 6);
      const bool found = plugin->calculate_jacobian_inverse(q, link, inverse);
      answer(found, inverse);
    } else {
      const Eigen::Matrix<double, 6, 1> motion = Eigen::Map<Eigen::VectorXd>(given.data(), 6);
      Eigen::VectorXd rates(q.size());
      const bool found = plugin->convert_cartesian_deltas_to_joint_deltas(q, motion, link, rates);
      answer(found, rates);
    }
  }
};

struct Controller
{
  std::shared_ptr<controller_interface::ChainableControllerInterface> plugin;
  std::vector<hardware_interface::Handle> references, states;
  std::vector<double> measured, commands;

  bool configure(std::istream & in)
  {
    std::string file;
    double step, error_after;
    in >> file >> step >> error_after;
    plugin = made<controller_interface::ChainableControllerInterface>("Controller");
    plugin->get_node()->given["ikr_file"] = file;
    plugin->get_node()->given["max_joint_step"] = step;
    plugin->get_node()->given["error_after"] = error_after;
    using controller_interface::CallbackReturn;
    if (plugin->on_init() != CallbackReturn::SUCCESS ||
      plugin->on_configure({}) != CallbackReturn::SUCCESS)
    {
      return false;
    }
    references = plugin->export_references();
    states = plugin->export_states();
    return true;
  }

  bool activate(std::istream & in)
  {
    measured = numbers(in);
    commands.assign(measured.size(), 1e9);
    std::vector<hardware_interface::Handle> from, into;
    const auto names = plugin->command_interface_configuration().names;
    for (std::size_t k = 0; k < names.size(); k++) {
      from.emplace_back(names[k], "", &measured.at(k));
      into.emplace_back(names[k], "", &commands.at(k));
    }
    plugin->assign(into, from);
    return plugin->on_activate({}) == controller_interface::CallbackReturn::SUCCESS;
  }

  void message(std::istream & in)
  {
    std::string goal;
    in >> goal;
    const auto n = numbers(in);
    geometry_msgs::msg::PoseStamped message;
    message.pose.position.x = n[0];
    message.pose.position.y = n[1];
    message.pose.position.z = n[2];
    message.pose.orientation.x = n[3];
    message.pose.orientation.y = n[4];
    message.pose.orientation.z = n[5];
    message.pose.orientation.w = n[6];
    plugin->get_node()->callbacks.at("~/goals/" + goal)(&message);
  }

  void update(std::istream & in)
  {
    int count, errors = 0;
    in >> count;
    const long before = allocations;
    for (; count > 0; count--) {
      errors += plugin->update({}, rclcpp::Duration(0.001)) !=
        controller_interface::return_type::OK;
    }
    std::printf("%d %ld ", errors, allocations - before);
    print(commands);
    for (const auto & state : states) {
      std::printf("%.17g ", *state.get_optional());
    }
  }
};

struct Transmission
{
  std::shared_ptr<transmission_interface::Transmission> plugin;
  std::vector<double> joints, actuators;

  static std::vector<std::string> split(const std::string & text)
  {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string each; std::getline(in, each, ','); ) {
      all.push_back(each);
    }
    return all;
  }

  bool load(std::istream & in)
  {
    std::string file, joint_names, actuator_names;
    double reduction, offset;
    in >> file >> joint_names >> actuator_names >> reduction >> offset;
    hardware_interface::TransmissionInfo info;
    info.name = "loops";
    if (file != "-") {
      info.parameters["ikr_file"] = file;
    }
    for (const auto & name : split(joint_names)) {
      info.joints.push_back({name, 1.0, offset});
    }
    for (const auto & name : split(actuator_names)) {
      info.actuators.push_back({name, reduction, 0.0});
    }
    plugin = made<transmission_interface::TransmissionLoader>("LoopTransmissionLoader")->load(info);
    if (!plugin) {
      return false;
    }
    joints.assign(3 * info.joints.size(), -1.0);
    actuators.assign(3 * info.actuators.size(), -1.0);
    std::vector<transmission_interface::JointHandle> joint_handles;
    std::vector<transmission_interface::ActuatorHandle> actuator_handles;
    const char * const interfaces[] = {"position", "velocity", "effort"};
    for (std::size_t k = 0; k < 3; k++) {
      for (std::size_t n = 0; n < info.joints.size(); n++) {
        joint_handles.emplace_back(
          info.joints[n].name, interfaces[k], &joints[info.joints.size() * k + n]);
      }
      for (std::size_t n = 0; n < info.actuators.size(); n++) {
        actuator_handles.emplace_back(
          info.actuators[n].name, interfaces[k], &actuators[info.actuators.size() * k + n]);
      }
    }
    plugin->configure(joint_handles, actuator_handles);
    return true;
  }

  // Numbers in the order in which `load` named joints and actuators.
  void carry(bool forward, std::istream & in)
  {
    const auto given = numbers(in);
    std::copy(given.begin(), given.end(), (forward ? actuators : joints).begin());
    forward ? plugin->actuator_to_joint() : plugin->joint_to_actuator();
    print(forward ? joints : actuators);
  }
};

}  // namespace

// Not inline: a compiler that sees malloc and delete side by side warns of a mismatch.
__attribute__((noinline)) void * operator new(std::size_t size)
{
  allocations++;
  if (void * found = std::malloc(size)) {
    return found;
  }
  throw std::bad_alloc();
}

__attribute__((noinline)) void operator delete(void * pointer) noexcept {std::free(pointer);}
__attribute__((noinline)) void operator delete(void * pointer, std::size_t) noexcept
{
  std::free(pointer);
}

int main()
{
  Kinematics kinematics;
  Controller controller;
  Transmission transmission;
  for (std::string line; std::getline(std::cin, line); std::fflush(stdout)) {
    std::istringstream in(line);
    std::string command;
    in >> command;
    if (command == "kinematics") {
      std::printf("%d", kinematics.open(in));
    } else if (command == "configure") {
      std::printf("%d", controller.configure(in));
    } else if (command == "activate") {
      std::printf("%d", controller.activate(in));
    } else if (command == "chain") {
      controller.plugin->is_chained = true;
      const auto values = numbers(in);
      for (std::size_t k = 0; k < values.size(); k++) {
        controller.references.at(k).set_value(values[k]);
      }
    } else if (command == "message") {
      controller.message(in);
    } else if (command == "update") {
      controller.update(in);
    } else if (command == "load") {
      std::printf("%d", transmission.load(in));
    } else if (command == "forward" || command == "backward") {
      transmission.carry(command == "forward", in);
    } else {
      kinematics.obey(command, in);
    }
    std::puts("");
  }
}

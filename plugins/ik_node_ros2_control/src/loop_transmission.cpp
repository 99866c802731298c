// Closed loops as a ros2_control transmission: position, velocity and effort between actuators and
// joints, from a file of `ik_node export --joints`.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hardware_interface/hardware_info.hpp"
#include "ik_node/ik_node.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/logging.hpp"
#include "transmission_interface/exception.hpp"
#include "transmission_interface/transmission.hpp"
#include "transmission_interface/transmission_loader.hpp"

namespace ik_node_ros2_control
{

using transmission_interface::ActuatorHandle;
using transmission_interface::Exception;
using transmission_interface::JointHandle;

// The handles of one interface of all joints, or of all actuators, in the order of the file.
template <typename Handle>
class Side
{
public:
  // All or none of the names must have the interface.
  Side(
    const std::vector<Handle> & handles, const std::vector<std::string> & names,
    const char * interface)
  {
    for (const std::string & name : names) {
      for (const Handle & handle : handles) {
        if (handle.get_prefix_name() == name && handle.get_interface_name() == interface && handle) {
          handles_.push_back(handle);
        }
      }
    }
    if (!handles_.empty() && handles_.size() != names.size()) {
      throw Exception(
        std::string("the interface '") + interface + "' must be there once for each of " +
        std::to_string(names.size()) + " names, not " + std::to_string(handles_.size()) + " times");
    }
  }

  Side() = default;
  explicit operator bool() const {return !handles_.empty();}

  // Read numbers; `scale` and `offset` turn those of a handle into those of the file.
  void read(double * into, const std::vector<double> & scale, const double * offset) const
  {
    for (std::size_t k = 0; k < handles_.size(); k++) {
      into[k] = scale[k] * (handles_[k].get_value() - (offset == nullptr ? 0.0 : offset[k]));
    }
  }

  void write(const double * from, const std::vector<double> & scale, const double * offset)
  {
    for (std::size_t k = 0; k < handles_.size(); k++) {
      handles_[k].set_value(from[k] / scale[k] + (offset == nullptr ? 0.0 : offset[k]));
    }
  }

private:
  std::vector<Handle> handles_;
};

// Position, velocity and effort of one side.
template <typename Handle>
struct Sides
{
  void open(const std::vector<Handle> & handles)
  {
    position = Side<Handle>(handles, names, hardware_interface::HW_IF_POSITION);
    velocity = Side<Handle>(handles, names, hardware_interface::HW_IF_VELOCITY);
    effort = Side<Handle>(handles, names, hardware_interface::HW_IF_EFFORT);
    if (!position && !velocity && !effort) {
      throw Exception("no handle has the name and interface of a joint or actuator of the file");
    }
  }

  std::vector<std::string> names;
  std::vector<double> offset, rate, torque;      // [rad or m]; file per handle, of rates, of efforts
  std::vector<double> position_in, rate_in, torque_in;
  Side<Handle> position, velocity, effort;
};

class LoopTransmission : public transmission_interface::Transmission
{
public:
  explicit LoopTransmission(const hardware_interface::TransmissionInfo & info)
  : transmission_(ik_node::Robot(file_of(info)))
  {
    match(info.joints, IK_NODE_ROWS, "joint", joints_);
    match(info.actuators, IK_NODE_ACTUATORS, "actuator", actuators_);
    transmission_.start();
    // Efforts need a position: until one is read, it is that of the export.
    std::vector<double> start(actuators_.names.size());
    for (std::size_t k = 0; k < start.size(); k++) {
      const ik_node::Robot & robot = transmission_.robot();
      const int place = robot.find(IK_NODE_JOINTS, actuators_.names[k]);
      start[k] = place < 0 ? 0.0 : robot.start()[place];
    }
    actuators_.position_in = start;
    if (transmission_.to_joints(start.data()) < 0) {
      throw Exception("the actuators of the file cannot be carried to the joints");
    }
    remember(IK_NODE_ROW_POSITION, joints_.position_in);
  }

  void configure(
    const std::vector<JointHandle> & joints, const std::vector<ActuatorHandle> & actuators) override
  {
    joints_.open(joints);
    actuators_.open(actuators);
  }

  void actuator_to_joint() override
  {
    read(actuators_);
    if (transmission_.to_joints(
        actuators_.position_in.data(), given(actuators_.velocity, actuators_.rate_in),
        given(actuators_.effort, actuators_.torque_in)) != IK_NODE_CONVERGED)
    {
      return;  // outside limits, or not finite: the joints keep their last values
    }
    remember(IK_NODE_ROW_POSITION, joints_.position_in);
    write(joints_, IK_NODE_ROW_POSITION, bool(actuators_.velocity), bool(actuators_.effort));
  }

  void joint_to_actuator() override
  {
    read(joints_);
    if (transmission_.to_actuators(
        joints_.position_in.data(), given(joints_.velocity, joints_.rate_in),
        given(joints_.effort, joints_.torque_in)) != IK_NODE_CONVERGED)
    {
      return;
    }
    remember(IK_NODE_ACTUATOR_POSITION, actuators_.position_in);
    write(actuators_, IK_NODE_ACTUATOR_POSITION, bool(joints_.velocity), bool(joints_.effort));
  }

  std::size_t num_actuators() const override {return actuators_.names.size();}
  std::size_t num_joints() const override {return joints_.names.size();}

private:
  static std::string file_of(const hardware_interface::TransmissionInfo & info)
  {
    const auto found = info.parameters.find("ikr_file");
    if (found == info.parameters.end()) {
      throw Exception("<param name=\"ikr_file\"> is missing");
    }
    return found->second;
  }

  // Bring the names of one side into the order of the file.
  template <typename Info, typename Handle>
  void match(
    const std::vector<Info> & infos, int what, const char * kind, Sides<Handle> & side) const
  {
    const ik_node::Robot & robot = transmission_.robot();
    for (int index = 0; index < robot.count(what); index++) {
      const std::string name = robot.name(what, index);
      const auto found = std::find_if(
        infos.begin(), infos.end(), [&name](const Info & info) {return info.name == name;});
      if (found == infos.end() || found->mechanical_reduction == 0.0) {
        throw Exception(
          std::string("the transmission needs <") + kind + " name=\"" + name +
          "\"> with a reduction other than zero");
      }
      side.names.push_back(name);
      side.offset.push_back(found->offset);
      side.rate.push_back(1.0 / found->mechanical_reduction);
      side.torque.push_back(found->mechanical_reduction);
    }
    if (side.names.size() != infos.size()) {
      throw Exception(
        std::string("the file has ") + std::to_string(side.names.size()) + " names of the kind '" +
        kind + "', the transmission " + std::to_string(infos.size()));
    }
    side.position_in.resize(side.names.size());
    side.rate_in.resize(side.names.size());
    side.torque_in.resize(side.names.size());
  }

  template <typename Handle>
  void read(Sides<Handle> & side)
  {
    side.position.read(side.position_in.data(), side.rate, side.offset.data());
    side.velocity.read(side.rate_in.data(), side.rate, nullptr);
    side.effort.read(side.torque_in.data(), side.torque, nullptr);
  }

  // Write position, velocity and effort, which follow one another in the result of a call.
  template <typename Handle>
  void write(Sides<Handle> & side, int position, bool has_velocity, bool has_effort)
  {
    side.position.write(transmission_[position], side.rate, side.offset.data());
    if (has_velocity) {
      side.velocity.write(transmission_[position + 1], side.rate, nullptr);
    }
    if (has_effort) {
      side.effort.write(transmission_[position + 2], side.torque, nullptr);
    }
  }

  // Keep positions for a call in the other direction that is given none.
  void remember(int part, std::vector<double> & into)
  {
    std::copy_n(transmission_[part], into.size(), into.begin());
  }

  template <typename Handle>
  static const double * given(const Side<Handle> & side, const std::vector<double> & values)
  {
    return side ? values.data() : nullptr;
  }

  ik_node::Transmission transmission_;
  Sides<JointHandle> joints_;
  Sides<ActuatorHandle> actuators_;
};

class LoopTransmissionLoader : public transmission_interface::TransmissionLoader
{
public:
  std::shared_ptr<transmission_interface::Transmission> load(
    const hardware_interface::TransmissionInfo & info) override
  {
    try {
      return std::make_shared<LoopTransmission>(info);
    } catch (const std::exception & error) {
      RCLCPP_ERROR(
        rclcpp::get_logger("ik_node_ros2_control"), "transmission '%s': %s", info.name.c_str(),
        error.what());
      return nullptr;
    }
  }
};

}  // namespace ik_node_ros2_control

PLUGINLIB_EXPORT_CLASS(
  ik_node_ros2_control::LoopTransmissionLoader, transmission_interface::TransmissionLoader)

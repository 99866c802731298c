// Stub: the few declarations of ros2_control that chainable_controller.cpp needs to be compiled
// without it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rclcpp
{
class Time {};
class Duration {};
}

namespace hardware_interface
{
inline constexpr char HW_IF_POSITION[] = "position";

class CommandInterface
{
public:
  CommandInterface(std::string prefix, std::string name, double * value)
  : prefix_(std::move(prefix)), name_(std::move(name)), value_(value) {}

private:
  std::string prefix_, name_;
  double * value_;
};

class LoanedCommandInterface
{
public:
  bool set_value(double) {return true;}
};

class LoanedStateInterface
{
public:
  double get_value() const {return 0.0;}
};
}  // namespace hardware_interface

namespace rclcpp_lifecycle
{
class State {};
}

namespace controller_interface
{
enum class return_type { OK, ERROR };
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };

struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names;
};

class ChainableControllerInterface
{
public:
  virtual ~ChainableControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;

protected:
  virtual std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() = 0;
  virtual return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) = 0;
  virtual return_type update_and_write_commands(
    const rclcpp::Time &, const rclcpp::Duration &) = 0;

  // In ros2_control this is a parameter of the node.
  std::string parameter(const std::string &) const {return "";}
  std::string name() const {return "";}

  std::vector<double> reference_interfaces_;
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;
};
}  // namespace controller_interface

// Stub of the class that chainable controllers derive from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"

namespace hardware_interface
{

// A value of somebody else, under a name.
class Handle
{
public:
  Handle(const std::string & prefix, const std::string & interface, double * value)
  : name_(prefix + "/" + interface), value_(value) {}

  const std::string & get_name() const {return name_;}
  std::optional<double> get_optional() const {return *value_;}

  bool set_value(double value)
  {
    *value_ = value;
    return true;
  }

private:
  std::string name_;
  double * value_;
};

using StateInterface = Handle;
using CommandInterface = Handle;

}  // namespace hardware_interface

namespace controller_interface
{

enum class return_type : std::uint8_t {OK = 0, ERROR = 1};
enum class CallbackReturn : std::uint8_t {SUCCESS = 97, FAILURE = 98, ERROR = 99};
enum class interface_configuration_type : std::uint8_t {ALL = 0, INDIVIDUAL = 1, NONE = 2};

struct InterfaceConfiguration
{
  interface_configuration_type type = interface_configuration_type::NONE;
  std::vector<std::string> names = {};
};

class ChainableControllerInterface
{
public:
  virtual ~ChainableControllerInterface() = default;

  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;

  return_type update(const rclcpp::Time & time, const rclcpp::Duration & period)
  {
    if (!is_chained && update_reference_from_subscribers(time, period) != return_type::OK) {
      return return_type::ERROR;
    }
    return update_and_write_commands(time, period);
  }

  std::vector<hardware_interface::CommandInterface> export_references()
  {
    return on_export_reference_interfaces();
  }

  std::vector<hardware_interface::StateInterface> export_states()
  {
    return on_export_state_interfaces();
  }

  void assign(
    std::vector<hardware_interface::CommandInterface> commands,
    std::vector<hardware_interface::StateInterface> states)
  {
    command_interfaces_ = std::move(commands);
    state_interfaces_ = std::move(states);
  }

  std::shared_ptr<rclcpp::Node> get_node() const {return node_;}
  bool is_chained = false;

protected:
  template <typename Value>
  void auto_declare(const std::string & name, const Value & value)
  {
    if (!node_->has_parameter(name)) {
      node_->declare_parameter(name, value);
    }
  }

  virtual std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() = 0;
  virtual std::vector<hardware_interface::StateInterface> on_export_state_interfaces() = 0;
  virtual return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) = 0;
  virtual return_type update_and_write_commands(
    const rclcpp::Time &, const rclcpp::Duration &) = 0;

  std::vector<double> reference_interfaces_, state_interfaces_values_;
  std::vector<hardware_interface::CommandInterface> command_interfaces_;
  std::vector<hardware_interface::StateInterface> state_interfaces_;

private:
  std::shared_ptr<rclcpp::Node> node_ = std::make_shared<rclcpp::Node>();
};

}  // namespace controller_interface

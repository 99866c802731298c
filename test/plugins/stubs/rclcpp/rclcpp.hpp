// Stub of rclcpp: nodes with parameters and subscriptions, whose callbacks the host calls.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include "rclcpp/logging.hpp"

namespace rclcpp
{

class Parameter
{
public:
  using Value = std::variant<std::string, std::int64_t, double>;

  Parameter() = default;
  Parameter(std::string value) : value_(std::move(value)) {}
  Parameter(const char * value) : value_(std::string(value)) {}
  Parameter(int value) : value_(std::int64_t(value)) {}
  Parameter(double value) : value_(value) {}
  const std::string & as_string() const {return std::get<std::string>(value_);}
  std::int64_t as_int() const {return std::get<std::int64_t>(value_);}
  double as_double() const {return std::get<double>(value_);}

private:
  Value value_;
};

using ParameterValue = Parameter;

class Time
{
};

class Duration
{
public:
  explicit Duration(double seconds) : seconds_(seconds) {}
  double seconds() const {return seconds_;}

private:
  double seconds_;
};

struct SystemDefaultsQoS
{
};

struct SubscriptionBase
{
  virtual ~SubscriptionBase() = default;
};

namespace node_interfaces
{

class NodeParametersInterface
{
public:
  virtual ~NodeParametersInterface() = default;
  bool has_parameter(const std::string & name) const {return given.count(name) > 0;}
  Parameter get_parameter(const std::string & name) const {return given.at(name);}

  void declare_parameter(const std::string & name, const ParameterValue & value)
  {
    if (!given.emplace(name, value).second) {
      throw std::runtime_error("parameter " + name + " is declared twice");
    }
  }

  std::map<std::string, Parameter> given;
};

}  // namespace node_interfaces

class Node : public node_interfaces::NodeParametersInterface
{
public:
  using SharedPtr = std::shared_ptr<Node>;

  const char * get_name() const {return "ik";}
  Logger get_logger() const {return Logger("ik");}

  template <typename Message>
  std::shared_ptr<SubscriptionBase> create_subscription(
    const std::string & topic, const SystemDefaultsQoS &,
    std::function<void(const Message &)> callback)
  {
    callbacks[topic] = [callback](const void * message) {
        callback(*static_cast<const Message *>(message));
      };
    return std::make_shared<SubscriptionBase>();
  }

  std::map<std::string, std::function<void(const void *)>> callbacks;
};

}  // namespace rclcpp

namespace rclcpp_lifecycle
{

class State
{
};

}  // namespace rclcpp_lifecycle

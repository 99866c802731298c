// Stub: handles of joints and actuators, and the class that transmissions derive from.
#pragma once

#include <string>
#include <vector>

#include "hardware_interface/types/hardware_interface_type_values.hpp"

namespace transmission_interface
{

class Handle
{
public:
  Handle(const std::string & prefix, const std::string & interface, double * value)
  : prefix_(prefix), interface_(interface), value_(value) {}

  operator bool() const {return value_ != nullptr;}
  const std::string & get_prefix_name() const {return prefix_;}
  const std::string & get_interface_name() const {return interface_;}
  double get_value() const {return *value_;}

  bool set_value(double value)
  {
    *value_ = value;
    return true;
  }

private:
  std::string prefix_, interface_;
  double * value_;
};

class JointHandle : public Handle
{
  using Handle::Handle;
};

class ActuatorHandle : public Handle
{
  using Handle::Handle;
};

class Transmission
{
public:
  virtual ~Transmission() = default;
  virtual void configure(
    const std::vector<JointHandle> &, const std::vector<ActuatorHandle> &) = 0;
  virtual void actuator_to_joint() = 0;
  virtual void joint_to_actuator() = 0;
  virtual std::size_t num_actuators() const = 0;
  virtual std::size_t num_joints() const = 0;
};

}  // namespace transmission_interface

// Stub: what a description says about a transmission.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hardware_interface/types/hardware_interface_type_values.hpp"

namespace hardware_interface
{

struct JointInfo
{
  std::string name;
  double mechanical_reduction = 1.0, offset = 0.0;
};

struct ActuatorInfo
{
  std::string name;
  double mechanical_reduction = 1.0, offset = 0.0;
};

struct TransmissionInfo
{
  std::string name, type;
  std::vector<JointInfo> joints;
  std::vector<ActuatorInfo> actuators;
  std::unordered_map<std::string, std::string> parameters;
};

}  // namespace hardware_interface

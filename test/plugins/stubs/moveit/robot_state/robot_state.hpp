// Stub: values of variables.
#pragma once

#include <map>
#include <string>

namespace moveit::core
{

class RobotState
{
public:
  double getVariablePosition(const std::string & name) const {return values.at(name);}

  std::map<std::string, double> values;
};

}  // namespace moveit::core

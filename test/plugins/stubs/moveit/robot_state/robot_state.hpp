// Stub: values of variables, and poses of links.
#pragma once

#include <string>
#include <utility>

#include "moveit/robot_model/robot_model.hpp"

namespace moveit::core
{

class RobotState
{
public:
  explicit RobotState(RobotModelConstPtr model = nullptr) : model_(std::move(model)) {}

  void setToDefaultValues() {values.clear();}
  void setVariablePosition(const std::string & name, double value) {values[name] = value;}
  double getVariablePosition(const std::string & name) const {return values.at(name);}
  void update() {}
  Transform getGlobalLinkTransform(const std::string & link) const
  {
    return model_->forward(link, values);
  }

  Values values;

private:
  RobotModelConstPtr model_;
};

}  // namespace moveit::core

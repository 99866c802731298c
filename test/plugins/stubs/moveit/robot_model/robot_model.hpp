// Stub: a robot model with one group.
#pragma once

#include <string>
#include <vector>

#include "moveit/robot_model/joint_model_group.hpp"

namespace moveit::core
{

class RobotModel
{
public:
  RobotModel(std::string group, const JointModelGroup & joints, std::vector<std::string> variables)
  : group_(std::move(group)), joints_(joints), variables_(std::move(variables)) {}

  const JointModelGroup * getJointModelGroup(const std::string & name) const
  {
    return name == group_ ? &joints_ : nullptr;
  }

  const std::vector<std::string> & getVariableNames() const {return variables_;}

private:
  std::string group_;
  JointModelGroup joints_;
  std::vector<std::string> variables_;
};

}  // namespace moveit::core

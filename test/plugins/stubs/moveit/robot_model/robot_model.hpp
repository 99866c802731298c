// Stub: a robot model with one group.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "moveit/robot_model/joint_model_group.hpp"

namespace moveit::core
{

using Values = std::map<std::string, double>;

struct Transform
{
  const Transform & matrix() const {return *this;}
  double operator()(int row, int column) const {return rows[row][column];}

  std::array<std::array<double, 4>, 3> rows;
};

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

  std::function<Transform(const std::string &, const Values &)> forward;  // of a link

private:
  std::string group_;
  JointModelGroup joints_;
  std::vector<std::string> variables_;
};

using RobotModelConstPtr = std::shared_ptr<const RobotModel>;

}  // namespace moveit::core

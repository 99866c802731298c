// Stub: joints with bounds, and the groups of them.
#pragma once

#include <string>
#include <vector>

namespace moveit::core
{

struct VariableBounds
{
  double min_position_ = 0.0, max_position_ = 0.0;
  bool position_bounded_ = false;
};

class JointModel
{
public:
  JointModel(std::string name, std::vector<VariableBounds> bounds)
  : name_(std::move(name)), bounds_(std::move(bounds)) {}

  const std::string & getName() const {return name_;}
  std::size_t getVariableCount() const {return bounds_.size();}
  const std::vector<VariableBounds> & getVariableBounds() const {return bounds_;}

private:
  std::string name_;
  std::vector<VariableBounds> bounds_;  // of each variable; none = a fixed joint
};

class JointModelGroup
{
public:
  explicit JointModelGroup(std::vector<const JointModel *> joints) : joints_(std::move(joints))
  {
    for (const JointModel * joint : joints_) {
      if (joint->getVariableCount() > 0) {
        active_.push_back(joint);
      }
    }
  }

  const std::vector<const JointModel *> & getJointModels() const {return joints_;}
  const std::vector<const JointModel *> & getActiveJointModels() const {return active_;}

  bool isSingleDOFJoints() const
  {
    for (const JointModel * joint : joints_) {
      if (joint->getVariableCount() > 1) {
        return false;
      }
    }
    return true;
  }

private:
  std::vector<const JointModel *> joints_, active_;
};

}  // namespace moveit::core

// Skeleton of a MoveIt kinematics plugin. It is compiled against stub headers only and has never
// run in MoveIt: a base for your own, not a finished plugin.
//
// MoveIt calls a plugin from several threads, while a problem belongs to one thread at a time.
// Therefore the plugin has a mutex; planning is no real-time task.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "ik_node/ik_node.hpp"
#include "moveit/kinematics_base/kinematics_base.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace ik_node_examples
{

class MoveItPlugin : public kinematics::KinematicsBase
{
public:
  // In MoveIt, `file` is a parameter of the group: robot_description_kinematics.GROUP.ikr_file.
  explicit MoveItPlugin(std::string file = "")
  : file_(std::move(file)) {}

  bool initialize(
    const std::shared_ptr<rclcpp::Node> &, const moveit::core::RobotModel &, const std::string &,
    const std::string &, const std::vector<std::string> & tips, double) override
  {
    try {
      problem_ = std::make_unique<ik_node::Problem>(ik_node::Robot(file_));
    } catch (const ik_node::Error &) {
      return false;  // a plugin logs error.what()
    }
    const ik_node::Robot & robot = problem_->robot();
    for (int at = 0; at < robot.count(IK_NODE_JOINTS); at++) {
      joints_.emplace_back(robot.name(IK_NODE_JOINTS, at));
    }
    links_ = tips;
    poses_.resize(7 * std::size_t(robot.count(IK_NODE_LINKS)));
    return tips.size() == 1 && robot.count(IK_NODE_GOALS) == 1 &&
           robot.find(IK_NODE_GOALS, tips.front()) == 0;
  }

  bool getPositionIK(
    const geometry_msgs::msg::Pose & pose, const std::vector<double> & seed,
    std::vector<double> & solution, moveit_msgs::msg::MoveItErrorCodes & code,
    const kinematics::KinematicsQueryOptions & options) const override
  {
    return searchPositionIK(pose, seed, 0.0, {}, solution, nullptr, code, options);
  }

  bool searchPositionIK(
    const geometry_msgs::msg::Pose & pose, const std::vector<double> & seed, double,
    const std::vector<double> &, std::vector<double> & solution, const IKCallbackFn & callback,
    moveit_msgs::msg::MoveItErrorCodes & code,
    const kinematics::KinematicsQueryOptions &) const override
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    code.val = code.NO_IK_SOLUTION;
    if (seed.size() != joints_.size()) {
      return false;
    }
    const auto & p = pose.position;
    const auto & r = pose.orientation;
    const int status = problem_->solve(seed.data(), {p.x, p.y, p.z}, {r.x, r.y, r.z, r.w});
    if (status != IK_NODE_CONVERGED) {
      return false;
    }
    solution.assign(problem_->q(), problem_->q() + joints_.size());
    code.val = code.SUCCESS;
    if (callback) {
      callback(pose, solution, code);
    }
    return code.val == code.SUCCESS;
  }

  bool getPositionFK(
    const std::vector<std::string> & links, const std::vector<double> & q,
    std::vector<geometry_msgs::msg::Pose> & poses) const override
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (q.size() != joints_.size() || problem_->forward(q.data(), poses_.data()) < 0) {
      return false;
    }
    poses.clear();
    for (const std::string & name : links) {
      const int link = problem_->robot().find(IK_NODE_LINKS, name);
      if (link < 0) {
        return false;
      }
      const double * at = poses_.data() + 7 * link;
      poses.push_back({{at[0], at[1], at[2]}, {at[3], at[4], at[5], at[6]}});
    }
    return true;
  }

  const std::vector<std::string> & getJointNames() const override {return joints_;}
  const std::vector<std::string> & getLinkNames() const override {return links_;}

private:
  std::string file_;
  std::vector<std::string> joints_, links_;
  std::unique_ptr<ik_node::Problem> problem_;
  mutable std::mutex mutex_;
  mutable std::vector<double> poses_;
};

}  // namespace ik_node_examples

PLUGINLIB_EXPORT_CLASS(ik_node_examples::MoveItPlugin, kinematics::KinematicsBase)

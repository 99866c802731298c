// A small host of the MoveIt plugin: it obeys commands on its input, one a line, and answers each
// with one line on its output.
//
//   open FILE GROUP BASE TIPS TIP... JOINTS (NAME LOWER UPPER)... VARIABLES NAME...
//        -> opened | refused; a joint with lower > upper has no bounds, with the name @NAME no value
//   robot FILE -> set; MoveIt's robot from now on, "-" = that of each opened file
//   options LOCK APPROXIMATE REDUNDANT INDEX...
//   context NUMBER (NAME VALUE)...
//   search TIMEOUT CALLBACK LIMITS VALUE... SEED... POSES NUMBER...
//        -> CODE CALLS VALUE...; callback: none, all, or a number of solutions to reject
//   once SEED... -> the same through getPositionIK for all tips
//   fk LINK VALUE... -> 7 numbers | refused
#include <cstdio>
#include <iostream>
#include <sstream>

#include "ik_node/ik_node.hpp"
#include "moveit/kinematics_base/kinematics_base.hpp"
#include "moveit/robot_state/robot_state.hpp"
#include "pluginlib/class_list_macros.hpp"

using kinematics::KinematicsBase;

namespace
{

std::vector<double> numbers(std::istream & in, std::size_t count)
{
  std::vector<double> made(count);
  for (double & each : made) {
    std::string word;  // also nan and inf
    in >> word;
    each = std::stod(word);
  }
  return made;
}

std::vector<KinematicsBase::Pose> poses(std::istream & in, std::size_t count)
{
  std::vector<KinematicsBase::Pose> made(count);
  for (auto & pose : made) {
    const auto n = numbers(in, 7);
    pose.position.x = n[0];
    pose.position.y = n[1];
    pose.position.z = n[2];
    pose.orientation.x = n[3];
    pose.orientation.y = n[4];
    pose.orientation.z = n[5];
    pose.orientation.w = n[6];
  }
  return made;
}

// Return the pose of a link, MoveIt's forward kinematics being those of a file.
moveit::core::Transform forward_of(
  const std::string & file, const std::string & link, const moveit::core::Values & values)
{
  const ik_node::Robot robot(file);
  std::vector<double> q(robot.start(), robot.start() + robot.count(IK_NODE_JOINTS));
  for (const auto & [name, value] : values) {
    q.at(robot.find(IK_NODE_JOINTS, name)) = value;
  }
  std::vector<double> poses(7 * robot.count(IK_NODE_LINKS));
  ik_node::Problem(robot).forward(q.data(), poses.data());
  const double * p = poses.data() + 7 * robot.find(IK_NODE_LINKS, link);
  const double x = p[3], y = p[4], z = p[5], w = p[6];
  return {{{
    {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), p[0]},
    {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), p[1]},
    {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), p[2]}}}};
}

struct Host
{
  std::string robot = "-";
  std::shared_ptr<KinematicsBase> plugin;
  std::vector<moveit::core::JointModel> joints;
  kinematics::KinematicsQueryOptions options;
  moveit::core::RobotState context;

  void open(std::istream & in)
  {
    std::string file, group, base, name;
    std::size_t count;
    in >> file >> group >> base >> count;
    std::vector<std::string> tips(count), variables;
    for (std::string & tip : tips) {
      in >> tip;
    }
    in >> count;
    joints.clear();
    for (std::size_t k = 0; k < count; k++) {
      double lower, upper;
      in >> name >> lower >> upper;
      std::vector<moveit::core::VariableBounds> bounds(1);
      bounds[0].min_position_ = lower;
      bounds[0].max_position_ = upper;
      bounds[0].position_bounded_ = lower <= upper;
      if (name[0] == '@') {
        bounds.clear();
      }
      joints.emplace_back(name, bounds);
    }
    for (in >> count; count > 0 && in >> name; count--) {
      variables.push_back(name);
    }
    std::vector<const moveit::core::JointModel *> members;
    for (const auto & joint : joints) {
      members.push_back(&joint);
    }
    moveit::core::RobotModel model("arm", moveit::core::JointModelGroup(members), variables);
    model.forward = [known = robot == "-" ? file : robot](const auto & link, const auto & values) {
        return forward_of(known, link, values);
      };
    auto node = std::make_shared<rclcpp::Node>();
    if (file != "-") {
      node->given["robot_description_kinematics.arm.ikr_file"] = rclcpp::Parameter(file);
    }
    plugin = pluginlib::classes<KinematicsBase>().at("ik_node_moveit::KinematicsPlugin")();
    std::puts(plugin->initialize(node, model, group, base, tips, 0.1) ? "opened" : "refused");
  }

  void search(std::istream & in)
  {
    double timeout;
    std::string callback;
    std::size_t count;
    in >> timeout >> callback >> count;
    const auto limits = numbers(in, count);
    const auto seed = numbers(in, plugin->getJointNames().size());
    in >> count;
    const auto goals = poses(in, count);
    int calls = 0;
    KinematicsBase::IKCallbackFn judge;
    if (callback != "none") {
      const int rejected = callback == "all" ? 1 << 30 : std::stoi(callback);
      judge = [&calls, rejected](const auto &, const auto &, auto & code) {
          code.val = calls++ < rejected ? code.FAILURE : code.SUCCESS;
        };
    }
    KinematicsBase::Code code;
    std::vector<double> solution;
    const bool solved = plugin->searchPositionIK(
      goals, seed, timeout, limits, solution, judge, code, options,
      context.values.empty() ? nullptr : &context);
    answer(solved, code.val, calls, solution);
  }

  void once(std::istream & in)
  {
    const auto seed = numbers(in, plugin->getJointNames().size());
    const auto goals = poses(in, plugin->getTipFrames().size());
    std::vector<std::vector<double>> solutions;
    kinematics::KinematicsResult result;
    const bool solved = plugin->getPositionIK(goals, seed, solutions, result, options);
    answer(solved, result.kinematic_error, 0, solved ? solutions.at(0) : seed);
  }

  void answer(bool solved, int code, int calls, const std::vector<double> & values)
  {
    std::printf("%d %d", code, calls);
    for (std::size_t k = 0; solved && k < values.size(); k++) {
      std::printf(" %.17g", values[k]);
    }
    std::puts("");
  }

  void forward(std::istream & in)
  {
    std::string link;
    in >> link;
    const auto values = numbers(in, plugin->getJointNames().size());
    std::vector<KinematicsBase::Pose> found;
    if (!plugin->getPositionFK({link}, values, found)) {
      std::puts("refused");
      return;
    }
    const auto & p = found.at(0).position;
    const auto & r = found.at(0).orientation;
    std::printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", p.x, p.y, p.z, r.x, r.y, r.z, r.w);
  }
};

}  // namespace

int main()
{
  Host host;
  for (std::string line; std::getline(std::cin, line); std::fflush(stdout)) {
    std::istringstream in(line);
    std::string command;
    in >> command;
    if (command == "open") {
      host.open(in);
    } else if (command == "robot") {
      in >> host.robot;
      std::puts("set");
    } else if (command == "options") {
      std::size_t count;
      in >> host.options.lock_redundant_joints >> host.options.return_approximate_solution >> count;
      std::vector<unsigned int> redundant(count);
      for (unsigned int & each : redundant) {
        in >> each;
      }
      host.plugin->setRedundantJoints(redundant);
      std::puts("set");
    } else if (command == "context") {
      std::string name;
      double value;
      while (in >> name >> value) {
        host.context.values[name] = value;
      }
      std::puts("set");
    } else if (command == "search") {
      host.search(in);
    } else if (command == "once") {
      host.once(in);
    } else {
      host.forward(in);
    }
  }
}

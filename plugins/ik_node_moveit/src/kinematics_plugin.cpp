// The MoveIt kinematics plugin of ik_node, for arms and for robots with closed loops.
//
// MoveIt calls a plugin from several threads, while a problem belongs to one thread at a time. So
// every call takes a problem from a pool, and no lock is held during a solve.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ament_index_cpp/get_package_share_directory.hpp"
#include "ik_node/ik_node.hpp"
#include "moveit/kinematics_base/kinematics_base.hpp"
#include "moveit/robot_model/joint_model_group.hpp"
#include "moveit/robot_model/robot_model.hpp"
#include "moveit/robot_state/robot_state.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/rclcpp.hpp"

namespace ik_node_moveit
{

namespace
{

using Clock = std::chrono::steady_clock;
using Code = moveit_msgs::msg::MoveItErrorCodes;
using Pose = geometry_msgs::msg::Pose;
using Quaternion = std::array<double, 4>;  // x, y, z, w

constexpr int kSlice = 64;  // steps between two looks at the clock, about 0.1 ms
constexpr int kShort = 8;   // the same where only one start is wanted
constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kOnce = kNone;
constexpr double kNear = 1.0;  // reach of a start near a solution [rad or m]

rclcpp::Logger logger() {return rclcpp::get_logger("ik_node_moveit");}

struct Frame
{
  std::array<double, 3> position;
  Quaternion rotation;
};

Quaternion product(const Quaternion & a, const Quaternion & b)
{
  return {
    a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
    a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
    a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
    a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
}

Quaternion conjugate(const Quaternion & a) {return {-a[0], -a[1], -a[2], a[3]};}

std::array<double, 3> rotated(const Quaternion & r, const std::array<double, 3> & p)
{
  const Quaternion turned = product(product(r, {p[0], p[1], p[2], 0.0}), conjugate(r));
  return {turned[0], turned[1], turned[2]};
}

// Return the pose of `b`, which is given in the frame `a`, in the frame of `a`.
Frame operator*(const Frame & a, const Frame & b)
{
  Frame made{rotated(a.rotation, b.position), product(a.rotation, b.rotation)};
  for (std::size_t k = 0; k < 3; k++) {
    made.position[k] += a.position[k];
  }
  return made;
}

Frame inverse(const Frame & a)
{
  Frame made{rotated(conjugate(a.rotation), a.position), conjugate(a.rotation)};
  for (double & each : made.position) {
    each = -each;
  }
  return made;
}

Frame frame_of(const Pose & pose)
{
  const auto & p = pose.position;
  const auto & r = pose.orientation;
  return {{p.x, p.y, p.z}, {r.x, r.y, r.z, r.w}};
}

Pose pose_of(const Frame & frame)
{
  Pose made;
  made.position.x = frame.position[0];
  made.position.y = frame.position[1];
  made.position.z = frame.position[2];
  made.orientation.x = frame.rotation[0];
  made.orientation.y = frame.rotation[1];
  made.orientation.z = frame.rotation[2];
  made.orientation.w = frame.rotation[3];
  return made;
}

// Return the file that a parameter names; `package://PACKAGE/PATH` is in a package's share folder.
std::string path_of(const std::string & file)
{
  const std::string scheme = "package://";
  if (file.rfind(scheme, 0) != 0) {
    return file;
  }
  const std::size_t slash = std::min(file.find('/', scheme.size()), file.size());
  const std::string package = file.substr(scheme.size(), slash - scheme.size());
  return ament_index_cpp::get_package_share_directory(package) + file.substr(slash);
}

std::string listed(const std::vector<std::string> & names)
{
  std::string made;
  for (const std::string & name : names) {
    made += (made.empty() ? "" : ", ") + name;
  }
  return made.empty() ? "none" : made;
}

}  // namespace

class KinematicsPlugin : public kinematics::KinematicsBase
{
public:
  using kinematics::KinematicsBase::getPositionIK;
  using kinematics::KinematicsBase::searchPositionIK;

  bool initialize(
    const rclcpp::Node::SharedPtr & node, const moveit::core::RobotModel & model,
    const std::string & group, const std::string & base, const std::vector<std::string> & tips,
    double discretization) override
  {
    node_ = node;
    storeValues(model, group, base, tips, discretization);
    std::string why;
    try {
      why = open(model);
    } catch (const std::exception & error) {
      why = error.what();
    }
    if (!why.empty()) {
      RCLCPP_ERROR(logger(), "group '%s': %s", group_name_.c_str(), why.c_str());
    }
    return why.empty();
  }

  bool supportsGroup(
    const moveit::core::JointModelGroup * group, std::string * why = nullptr) const override
  {
    const bool usable = group->isSingleDOFJoints() && !group->getActiveJointModels().empty();
    if (!usable && why != nullptr) {
      *why = "the group needs joints, all of them with one axis";
    }
    return usable;
  }

  // One solve from the seed, with the restarts that the file was exported with.
  bool getPositionIK(
    const Pose & pose, const std::vector<double> & seed, std::vector<double> & solution,
    Code & code, const kinematics::KinematicsQueryOptions & options) const override
  {
    return search({pose}, seed, kOnce, {}, solution, nullptr, code, options, nullptr);
  }

  bool getPositionIK(
    const std::vector<Pose> & poses, const std::vector<double> & seed,
    std::vector<std::vector<double>> & solutions, kinematics::KinematicsResult & result,
    const kinematics::KinematicsQueryOptions & options) const override
  {
    using namespace kinematics;  // NOLINT: names of three errors
    result.solution_percentage = 0.0;
    solutions.assign(1, {});
    Code code;
    if (options.discretization_method != DiscretizationMethods::NO_DISCRETIZATION) {
      result.kinematic_error = KinematicErrors::UNSUPORTED_DISCRETIZATION_REQUESTED;
      refuse("redundant joints are not discretized: only NO_DISCRETIZATION is supported");
    } else if (poses.empty()) {
      result.kinematic_error = KinematicErrors::EMPTY_TIP_POSES;
      refuse("no pose is given");
    } else if (search(poses, seed, kOnce, {}, solutions[0], nullptr, code, options, nullptr)) {
      result.kinematic_error = KinematicErrors::OK;
      result.solution_percentage = 1.0;
      return true;
    } else {
      result.kinematic_error = KinematicErrors::NO_SOLUTION;
    }
    solutions.clear();
    return false;
  }

  bool searchPositionIK(
    const Pose & pose, const std::vector<double> & seed, double timeout,
    std::vector<double> & solution, Code & code,
    const kinematics::KinematicsQueryOptions & options) const override
  {
    return search({pose}, seed, timeout, {}, solution, nullptr, code, options, nullptr);
  }

  bool searchPositionIK(
    const Pose & pose, const std::vector<double> & seed, double timeout,
    const std::vector<double> & consistency, std::vector<double> & solution, Code & code,
    const kinematics::KinematicsQueryOptions & options) const override
  {
    return search({pose}, seed, timeout, consistency, solution, nullptr, code, options, nullptr);
  }

  bool searchPositionIK(
    const Pose & pose, const std::vector<double> & seed, double timeout,
    std::vector<double> & solution, const IKCallbackFn & callback, Code & code,
    const kinematics::KinematicsQueryOptions & options) const override
  {
    return search({pose}, seed, timeout, {}, solution, callback, code, options, nullptr);
  }

  bool searchPositionIK(
    const Pose & pose, const std::vector<double> & seed, double timeout,
    const std::vector<double> & consistency, std::vector<double> & solution,
    const IKCallbackFn & callback, Code & code,
    const kinematics::KinematicsQueryOptions & options) const override
  {
    return search({pose}, seed, timeout, consistency, solution, callback, code, options, nullptr);
  }

  bool searchPositionIK(
    const std::vector<Pose> & poses, const std::vector<double> & seed, double timeout,
    const std::vector<double> & consistency, std::vector<double> & solution,
    const IKCallbackFn & callback, Code & code,
    const kinematics::KinematicsQueryOptions & options,
    const moveit::core::RobotState * context) const override
  {
    return search(poses, seed, timeout, consistency, solution, callback, code, options, context);
  }

  bool getPositionFK(
    const std::vector<std::string> & links, const std::vector<double> & values,
    std::vector<Pose> & poses) const override
  {
    if (!robot_ || values.size() != joints_.size()) {
      return refuse(
        "forward kinematics needs " + std::to_string(joints_.size()) + " joint values, not " +
        std::to_string(values.size()));
    }
    const Lease work(*this);
    work->q = start_;
    set_group(work->q, values);
    if (work->problem.forward(work->q.data(), work->poses.data()) < 0) {
      return refuse("a joint value is not finite");
    }
    poses.clear();
    for (const std::string & name : links) {
      const int link = robot_->find(IK_NODE_LINKS, name);
      if (link < 0) {
        return refuse("there is no link '" + name + "' in " + file_);
      }
      poses.push_back(pose_of(inverse(work->frame(base_)) * work->frame(link)));
    }
    return true;
  }

  const std::vector<std::string> & getJointNames() const override {return joints_;}
  const std::vector<std::string> & getLinkNames() const override {return tip_frames_;}

private:
  // What one call needs; no other thread uses it meanwhile.
  struct Work
  {
    explicit Work(const ik_node::Robot & robot)
    : problem(robot), poses(7 * std::size_t(robot.count(IK_NODE_LINKS))),
      positions(3 * std::size_t(robot.count(IK_NODE_GOALS))),
      quats(4 * std::size_t(robot.count(IK_NODE_GOALS))) {}

    Frame frame(int link) const
    {
      const double * p = poses.data() + 7 * link;
      return {{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}};
    }

    ik_node::Problem problem;
    std::vector<double> q, lower, upper, poses, positions, quats;
    std::mt19937_64 random;
  };

  class Lease
  {
  public:
    explicit Lease(const KinematicsPlugin & owner)
    : owner_(owner)
    {
      const std::lock_guard<std::mutex> lock(owner_.mutex_);
      if (owner_.pool_.empty()) {
        work_ = std::make_unique<Work>(*owner_.robot_);
      } else {
        work_ = std::move(owner_.pool_.back());
        owner_.pool_.pop_back();
      }
    }

    ~Lease()
    {
      const std::lock_guard<std::mutex> lock(owner_.mutex_);
      owner_.pool_.push_back(std::move(work_));
    }

    Lease(const Lease &) = delete;
    Lease & operator=(const Lease &) = delete;
    Work * operator->() const {return work_.get();}
    Work & operator*() const {return *work_;}

  private:
    const KinematicsPlugin & owner_;
    std::unique_ptr<Work> work_;
  };

  bool refuse(const std::string & why) const
  {
    RCLCPP_ERROR(logger(), "group '%s': %s", group_name_.c_str(), why.c_str());
    return false;
  }

  // Read the file of the group and match its names; return why this is impossible, or "".
  std::string open(const moveit::core::RobotModel & model)
  {
    const moveit::core::JointModelGroup * group = model.getJointModelGroup(group_name_);
    std::string why;
    robot_.reset();
    pool_.clear();
    if (group == nullptr) {
      return "there is no such group in the robot model";
    }
    if (!supportsGroup(group, &why)) {
      return why;
    }
    const std::string parameter = "robot_description_kinematics." + group_name_ + ".ikr_file";
    if (!node_->has_parameter(parameter)) {
      node_->declare_parameter(parameter, std::string());
    }
    file_ = path_of(node_->get_parameter(parameter).as_string());
    if (file_.empty()) {
      return "set the parameter " + parameter + " to a file of `ik_node export`";
    }
    robot_ = std::make_unique<ik_node::Robot>(file_);
    start_.assign(robot_->start(), robot_->start() + robot_->count(IK_NODE_JOINTS));
    lower_.assign(start_.size(), -kNone);
    upper_.assign(start_.size(), kNone);
    why = match_frames();
    if (why.empty()) {
      why = match_joints(model, *group);
    }
    return why.empty() ? match_kinematics() : why;
  }

  std::string match_frames()
  {
    base_ = robot_->find(IK_NODE_LINKS, base_frame_);
    if (base_ < 0) {
      return "the base link '" + base_frame_ + "' is not in " + file_;
    }
    std::vector<std::string> goals;
    for (int goal = 0; goal < robot_->count(IK_NODE_GOALS); goal++) {
      goals.emplace_back(robot_->name(IK_NODE_GOALS, goal));
    }
    goals_.clear();
    for (const std::string & tip : tip_frames_) {
      goals_.push_back(robot_->find(IK_NODE_GOALS, tip));
    }
    if (goals.empty() || goals.size() != goals_.size() || !std::is_permutation(
        goals.begin(), goals.end(), tip_frames_.begin()))
    {
      return "the tips (" + listed(tip_frames_) + ") are not the goals (" + listed(goals) +
             ") of " + file_ + ": export it with one --goal for each tip";
    }
    return "";
  }

  std::string match_joints(
    const moveit::core::RobotModel & model, const moveit::core::JointModelGroup & group)
  {
    joints_.clear();
    places_.clear();
    std::vector<bool> is_own(start_.size(), false);
    for (const moveit::core::JointModel * joint : group.getJointModels()) {
      if (joint->getVariableCount() == 0) {
        continue;
      }
      const int place = robot_->find(IK_NODE_JOINTS, joint->getName());
      if (place < 0) {
        return "joint '" + joint->getName() + "' is not in " + file_;
      }
      const moveit::core::VariableBounds & bounds = joint->getVariableBounds().front();
      if (bounds.position_bounded_) {
        lower_[std::size_t(place)] = std::max(bounds.min_position_, robot_->lower()[place]);
        upper_[std::size_t(place)] = std::min(bounds.max_position_, robot_->upper()[place]);
      } else {
        lower_[std::size_t(place)] = robot_->lower()[place];
        upper_[std::size_t(place)] = robot_->upper()[place];
      }
      if (!(lower_[std::size_t(place)] <= upper_[std::size_t(place)])) {
        return "the limits of joint '" + joint->getName() + "' and those in " + file_ +
               " have no value in common";
      }
      joints_.push_back(joint->getName());
      places_.push_back(std::size_t(place));
      is_own[std::size_t(place)] = true;
    }
    // Joints outside the group stay, except those that loops move with it.
    Work work(*robot_);
    std::vector<double> jacobian(6 * start_.size());
    work.problem.jacobian(start_.data(), base_, jacobian.data());
    has_motors_ = false;
    outside_.clear();
    for (std::size_t place = 0; place < start_.size(); place++) {
      has_motors_ = has_motors_ || robot_->is_actuated(int(place));
      bool moves_base = false;
      for (std::size_t row = 0; row < 6; row++) {
        moves_base = moves_base || std::abs(jacobian[row * start_.size() + place]) > 1e-12;
      }
      if (!is_own[place] && (moves_base || !is_in_loop(work, place))) {
        const std::string name = robot_->name(IK_NODE_JOINTS, int(place));
        const auto & names = model.getVariableNames();
        const bool known = std::find(names.begin(), names.end(), name) != names.end();
        outside_.push_back({place, known ? name : ""});
      }
    }
    return "";
  }

  // Compare the file's kinematics with MoveIt's, where loops are closed and other joints count.
  std::string match_kinematics()
  {
    constexpr double kSame = 1e-4;  // [m], for rounded numbers in a description
    const auto & names = robot_model_->getVariableNames();
    moveit::core::RobotState state(robot_model_);
    Work work(*robot_);
    std::vector<double> q = start_;
    for (std::size_t k = 0; k < places_.size(); k++) {
      const std::size_t place = places_[k];
      if (!is_in_loop(work, place)) {
        q[place] = std::clamp(q[place] + 0.1 * double(k + 1), lower_[place], upper_[place]);
      }
    }
    ik_node_follow(robot_->get(), q.data());
    state.setToDefaultValues();
    for (std::size_t place = 0; place < q.size(); place++) {
      const std::string name = robot_->name(IK_NODE_JOINTS, int(place));
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        state.setVariablePosition(name, q[place]);
      }
    }
    state.update();
    work.problem.forward(q.data(), work.poses.data());
    const auto theirs = state.getGlobalLinkTransform(base_frame_).matrix();
    for (const std::string & name : tip_frames_) {
      const int link = robot_->find(IK_NODE_LINKS, name);
      if (link < 0) {
        continue;  // a point of a link that MoveIt does not know
      }
      const Frame ours = inverse(work.frame(base_)) * work.frame(link);
      const auto tip = state.getGlobalLinkTransform(name).matrix();
      double apart = 0.0;
      for (int mark = 0; mark < 4; mark++) {  // the origin, and 1 m along each axis
        const std::array<double, 3> at{double(mark == 0), double(mark == 1), double(mark == 2)};
        const std::array<double, 3> turned = rotated(ours.rotation, at);
        for (int row = 0; row < 3; row++) {
          double place = 0.0;
          for (int k = 0; k < 3; k++) {
            place += theirs(k, row) *
              (tip(k, 3) + (mark < 3 ? tip(k, mark) : 0.0) - theirs(k, 3));
          }
          apart = std::max(apart, std::abs(place - ours.position[row] - turned[row]));
        }
      }
      if (!(apart <= kSame)) {
        return "'" + name + "' is " + std::to_string(apart) + " m from where MoveIt has it: " +
               file_ + " is of another robot; export the description that MoveIt uses";
      }
    }
    return "";
  }

  // Return true if a joint that moves alone opens a loop.
  bool is_in_loop(Work & work, std::size_t place) const
  {
    constexpr double kStep = 0.01, kOpen = 1e-6;
    work.q = start_;
    work.q[place] += start_[place] + kStep <= robot_->upper()[place] ? kStep : -kStep;
    ik_node_follow(robot_->get(), work.q.data());
    work.problem.limits(work.q.data(), work.q.data());
    for (std::size_t k = 3; k < work.quats.size(); k += 4) {
      work.quats[k] = 1.0;
    }
    work.problem.solve(work.q.data(), work.positions.data(), work.quats.data());
    for (int closure = 0; closure < robot_->count(IK_NODE_CLOSURES); closure++) {
      const ik_node::Residual error = work.problem.closure_error(closure);
      if (error.position > kOpen || error.orientation > kOpen) {
        return true;
      }
    }
    return false;
  }

  void set_group(std::vector<double> & q, const std::vector<double> & values) const
  {
    for (std::size_t k = 0; k < places_.size(); k++) {
      q[places_[k]] = values[k];
    }
    ik_node_follow(robot_->get(), q.data());
  }

  // Set start and limits of a solve from the seed; return why this is impossible, or "".
  std::string prepare(
    Work & work, const std::vector<double> & seed, const std::vector<double> & consistency,
    bool locks_redundant, const moveit::core::RobotState * context) const
  {
    work.q = start_;
    work.lower = lower_;
    work.upper = upper_;
    for (const auto & [place, name] : outside_) {
      if (context != nullptr && !name.empty()) {
        work.q[place] = context->getVariablePosition(name);
      }
      work.lower[place] = work.upper[place] = work.q[place];
    }
    for (std::size_t k = 0; k < places_.size(); k++) {
      double & lower = work.lower[places_[k]];
      double & upper = work.upper[places_[k]];
      if (!std::isfinite(seed[k])) {
        return "the seed of joint '" + joints_[k] + "' is not finite";
      }
      const bool locked = locks_redundant && std::find(
        redundant_joint_indices_.begin(), redundant_joint_indices_.end(), k) !=
        redundant_joint_indices_.end();
      const double width = locked ? 0.0 : consistency.empty() ? kNone : consistency[k];
      lower = std::max(lower, seed[k] - width);
      upper = std::min(upper, seed[k] + width);
      if (!(lower <= upper)) {
        return "the seed of joint '" + joints_[k] + "' is outside its limits by more than its "
               "consistency limit";
      }
      work.q[places_[k]] = std::clamp(seed[k], lower, upper);
    }
    ik_node_follow(robot_->get(), work.q.data());
    work.problem.limits(work.lower.data(), work.upper.data());
    return "";
  }

  // Draw another start: motors at random within their limits, at most `reach` away from a centre
  // that is finite; passive joints as in the file. Kept ones have the values of the last result.
  void draw(
    Work & work, const double * centre, double reach, const std::vector<bool> & kept) const
  {
    for (const std::size_t place : places_) {
      double low = work.lower[place], high = work.upper[place];
      if (!kept.empty() && kept[place]) {
        work.q[place] = work.problem.q()[place];
        continue;
      }
      if (has_motors_ && !robot_->is_actuated(int(place))) {
        work.q[place] = std::clamp(start_[place], low, high);
        continue;
      }
      const bool bounded = std::isfinite(low) && std::isfinite(high);
      const double around = std::min(reach, bounded ? kNone : M_PI);
      low = std::max(low, centre[place] - around);
      high = std::min(high, centre[place] + around);
      work.q[place] = std::uniform_real_distribution<double>(low, std::max(low, high))(work.random);
    }
    ik_node_follow(robot_->get(), work.q.data());
  }

  // Return which joints move no tip that is away from its pose, as the farthest one always is.
  std::vector<bool> reaching(Work & work) const
  {
    constexpr double kReached = 1e-2;  // [m, rad]
    const std::size_t count = start_.size();
    std::vector<bool> kept(count, true);
    std::vector<double> jacobian(6 * count), away;
    for (const int goal : goals_) {
      const ik_node::Residual error = work.problem.goal_error(goal);
      away.push_back(std::max(error.position, error.orientation));
    }
    const double farthest = *std::max_element(away.begin(), away.end());
    for (std::size_t tip = 0; tip < goals_.size(); tip++) {
      if (away[tip] < std::min(kReached, farthest)) {
        continue;
      }
      const int link = robot_->find(IK_NODE_LINKS, tip_frames_[tip]);
      work.problem.jacobian(work.problem.q(), link, jacobian.data());
      for (std::size_t k = 0; link >= 0 && k < jacobian.size(); k++) {
        kept[k % count] = kept[k % count] && jacobian[k] == 0.0;
      }
    }
    return kept;
  }

  // Solve from work.q until the answer or the deadline, or until the first start has failed.
  int solve(Work & work, Clock::time_point deadline, bool one_start) const
  {
    ik_node::Problem & problem = work.problem;
    const int slice = one_start ? kShort : kSlice;
    int status = problem.solve(work.q.data(), work.positions.data(), work.quats.data(), slice);
    while (status == IK_NODE_RUNNING) {
      if (Clock::now() >= deadline || (one_start && problem.starts() > 1)) {
        problem.interrupt();
        status = problem.resume();
        break;
      }
      status = problem.resume(slice);
    }
    return status;
  }

  // An infinite timeout means one solve from the seed, which ends by itself.
  bool search(
    const std::vector<Pose> & poses, const std::vector<double> & seed, double timeout,
    const std::vector<double> & consistency, std::vector<double> & solution,
    const IKCallbackFn & callback, Code & code,
    const kinematics::KinematicsQueryOptions & options,
    const moveit::core::RobotState * context) const
  {
    const Clock::time_point deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(timeout, 0.0, 1e6)));
    code.val = Code::NO_IK_SOLUTION;
    if (!robot_) {
      return refuse("the plugin is not initialized");
    }
    if (poses.size() != goals_.size() || seed.size() != joints_.size() ||
      (!consistency.empty() && consistency.size() != joints_.size()))
    {
      return refuse(
        "a call needs " + std::to_string(goals_.size()) + " poses, " +
        std::to_string(joints_.size()) + " seed values, and as many consistency limits or none; "
        "given are " + std::to_string(poses.size()) + ", " + std::to_string(seed.size()) +
        " and " + std::to_string(consistency.size()));
    }
    const Lease work(*this);
    const std::string why =
      prepare(*work, seed, consistency, options.lock_redundant_joints, context);
    if (!why.empty()) {
      return refuse(why);
    }
    work->problem.forward(work->q.data(), work->poses.data());
    const Frame base = work->frame(base_);
    for (std::size_t tip = 0; tip < goals_.size(); tip++) {
      const Frame goal = base * frame_of(poses[tip]);
      std::copy_n(goal.position.begin(), 3, work->positions.begin() + 3 * goals_[tip]);
      std::copy_n(goal.rotation.begin(), 4, work->quats.begin() + 4 * goals_[tip]);
    }
    const std::vector<double> centre = work->q;
    for (int attempt = 0;; attempt++) {
      // Of several tips, those that a start did not reach get another start by themselves; after
      // 15, 31, 63 ... attempts all of them, lest one tip hinders another.
      const bool one_start = goals_.size() > 1 && timeout < kOnce;
      const bool whole = attempt > 7 && (attempt & (attempt + 1)) == 0;
      const int status = solve(*work, deadline, one_start);
      if (status < 0) {
        return refuse(std::string("a pose cannot be solved: ") + ik_node_text(status));
      }
      if ((status == IK_NODE_CONVERGED || options.return_approximate_solution) &&
        take(*work, seed, consistency, solution))
      {
        code.val = Code::SUCCESS;
        if (callback) {
          callback(poses.front(), solution, code);
        }
        if (code.val == Code::SUCCESS) {
          return true;
        }
      }
      if (timeout == kOnce) {
        code.val = Code::NO_IK_SOLUTION;
        return false;
      }
      if (Clock::now() >= deadline) {
        code.val = Code::TIMED_OUT;
        return false;
      }
      // A redundant arm has other solutions near by, which take the fewest steps to find.
      const bool near = attempt % 2 == 0 && status == IK_NODE_CONVERGED;
      const std::vector<bool> kept =
        status == IK_NODE_CONVERGED || !one_start || whole ? std::vector<bool>() : reaching(*work);
      draw(*work, near ? work->problem.q() : centre.data(), near ? kNear : kNone, kept);
    }
  }

  // Copy the joints of the group; return False if a coupled one is outside its consistency limit.
  bool take(
    const Work & work, const std::vector<double> & seed, const std::vector<double> & consistency,
    std::vector<double> & solution) const
  {
    solution.resize(places_.size());
    bool consistent = true;
    for (std::size_t k = 0; k < places_.size(); k++) {
      solution[k] = work.problem.q()[places_[k]];
      consistent = consistent &&
        (consistency.empty() || std::abs(solution[k] - seed[k]) <= consistency[k] + 1e-9);
    }
    return consistent;
  }

  std::string file_;
  std::unique_ptr<ik_node::Robot> robot_;
  std::vector<std::string> joints_;   // joints of the group with a value, in its order
  std::vector<std::size_t> places_;   // their indices in q of the file
  std::vector<std::pair<std::size_t, std::string>> outside_;  // joints that stay; variable or ""
  std::vector<int> goals_;            // goals of the file in the order of the tips
  int base_ = -1;                     // link of the base frame
  bool has_motors_ = false;           // the file names motors
  std::vector<double> start_, lower_, upper_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Work>> pool_;
};

}  // namespace ik_node_moveit

PLUGINLIB_EXPORT_CLASS(ik_node_moveit::KinematicsPlugin, kinematics::KinematicsBase)

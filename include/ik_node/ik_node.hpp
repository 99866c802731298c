// The C++ interface of ik_node (C++17): owners of the objects of ik_node.h, nothing else.
//
// Constructors throw ik_node::Error. All other functions are noexcept and return codes, so that a
// control loop calls them without cost. See ik_node.h for units, shapes and threads.
#ifndef IK_NODE_HPP
#define IK_NODE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "ik_node/ik_node.h"

namespace ik_node
{

// An IK_NODE_ERROR_* of a constructor.
class Error : public std::runtime_error
{
public:
  explicit Error(int code, const std::string & what = "")
  : std::runtime_error(what.empty() ? ik_node_text(code) : what + ": " + ik_node_text(code)),
    code_(code)
  {
  }

  int code() const noexcept { return code_; }

private:
  int code_;
};

// The norms of a residual.
struct Residual
{
  double position;     // [m]
  double orientation;  // [rad]
};

// A robot from a file. Copies share it; it lives as long as a copy or a problem of it.
class Robot
{
public:
  explicit Robot(const std::string & path)
  {
    ik_node_robot * made = nullptr;
    const int code = ik_node_load(path.c_str(), &made);
    if (code < 0) {
      throw Error(code, path + (code == IK_NODE_ERROR_VERSION ? libraries(path) : ""));
    }
    robot_.reset(made, ik_node_free);
  }

  Robot(const void * content, std::size_t size)
  {
    ik_node_robot * made = nullptr;
    const int code = ik_node_load_memory(content, size, &made);
    if (code < 0) {
      throw Error(code);
    }
    robot_.reset(made, ik_node_free);
  }

  const ik_node_robot * get() const noexcept { return robot_.get(); }
  const char * name() const noexcept { return ik_node_robot_name(get()); }

  // `what` is IK_NODE_JOINTS, IK_NODE_LINKS, IK_NODE_GOALS, IK_NODE_CLOSURES, IK_NODE_CHAINS ...
  int count(int what) const noexcept { return ik_node_count(get(), what); }
  const char * name(int what, int index) const noexcept { return ik_node_name(get(), what, index); }

  // Return the index of the first one with a name, or a negative number.
  int find(int what, const std::string & name) const noexcept
  {
    return ik_node_find(get(), what, name.c_str());
  }

  const double * lower() const noexcept { return ik_node_lower(get()); }
  const double * upper() const noexcept { return ik_node_upper(get()); }
  const double * start() const noexcept { return ik_node_start(get()); }
  bool is_actuated(int joint) const noexcept { return ik_node_is_actuated(get(), joint) == 1; }
  int goal_axes(int goal) const noexcept { return ik_node_goal_axes(get(), goal); }
  double length(int chain) const noexcept { return ik_node_length(get(), chain); }
  void follow(double * q) const noexcept { ik_node_follow(get(), q); }

private:
  // Return which library a file was exported for, and which one this is.
  static std::string libraries(const std::string & path)
  {
    char head[32] = {};
    std::ifstream(path, std::ios::binary).read(head, sizeof head);
    return " (for library " + std::string(head + 16, 16) + ", this is " + ik_node_digest() + ")";
  }

  std::shared_ptr<ik_node_robot> robot_;
};

// One solve of a robot's goals. One thread at a time may use it.
class Problem
{
public:
  explicit Problem(const Robot & robot)
  : robot_(robot)
  {
    ik_node_problem * made = nullptr;
    const int code = ik_node_problem_new(robot.get(), &made);
    if (code < 0) {
      throw Error(code);
    }
    problem_.reset(made);
  }

  ik_node_problem * get() const noexcept { return problem_.get(); }
  const Robot & robot() const noexcept { return robot_; }

  // lower, upper (joints); see ik_node_limits.
  int limits(const double * lower, const double * upper) noexcept
  {
    return ik_node_limits(get(), lower, upper);
  }

  // positions (goals, 3), quats_xyzw (goals, 4), q0 (joints) or nullptr; see ik_node_solve.
  int solve(
    const double * q0, const double * positions, const double * quats_xyzw,
    int steps = 0) noexcept
  {
    return ik_node_solve(get(), q0, positions, quats_xyzw, steps);
  }

  // The same for a robot with one goal.
  int solve(
    const double * q0, const std::array<double, 3> & position,
    const std::array<double, 4> & quat_xyzw, int steps = 0) noexcept
  {
    return robot_.count(IK_NODE_GOALS) == 1 ?
           ik_node_solve(get(), q0, position.data(), quat_xyzw.data(), steps) :
           IK_NODE_ERROR_ARGUMENT;
  }

  int resume(int steps = 0) noexcept { return ik_node_continue(get(), steps); }
  int interrupt() noexcept { return ik_node_interrupt(get()); }

  const double * q() const noexcept { return ik_node_q(get()); }
  int status() const noexcept { return ik_node_status(get()); }
  std::int64_t steps() const noexcept { return ik_node_steps(get()); }
  std::int64_t closing_steps() const noexcept { return ik_node_closing_steps(get()); }
  std::int64_t starts() const noexcept { return ik_node_starts(get()); }

  // The residual of an index that does not exist is -1.
  Residual goal_error(int goal) const noexcept
  {
    double error[2] = {-1.0, -1.0};
    ik_node_goal_error(get(), goal, error);
    return {error[0], error[1]};
  }

  Residual closure_error(int closure) const noexcept
  {
    double error[2] = {-1.0, -1.0};
    ik_node_closure_error(get(), closure, error);
    return {error[0], error[1]};
  }

  // poses (links, 7); jacobian (6, joints).
  int forward(const double * q, double * poses) noexcept
  {
    return ik_node_forward(get(), q, poses);
  }

  int jacobian(const double * q, int link, double * jacobian) noexcept
  {
    return ik_node_jacobian(get(), q, link, jacobian);
  }

private:
  struct Free
  {
    void operator()(ik_node_problem * problem) const noexcept { ik_node_problem_free(problem); }
  };

  Robot robot_;
  std::unique_ptr<ik_node_problem, Free> problem_;
};

// The transmission of a robot that was exported with --joints. One thread at a time may use it.
class Transmission
{
public:
  explicit Transmission(const Robot & robot)
  : robot_(robot)
  {
    ik_node_transmission * made = nullptr;
    const int code = ik_node_transmission_new(robot.get(), &made);
    if (code < 0) {
      throw Error(code);
    }
    transmission_.reset(made);
  }

  ik_node_transmission * get() const noexcept { return transmission_.get(); }
  const Robot & robot() const noexcept { return robot_; }

  // q (joints), or nullptr for the start of the robot.
  int start(const double * q = nullptr) noexcept { return ik_node_transmission_start(get(), q); }

  // Actuators to joint space; velocity and effort may be nullptr. See ik_node_to_joints.
  int to_joints(
    const double * position, const double * velocity = nullptr,
    const double * effort = nullptr) noexcept
  {
    return ik_node_to_joints(get(), position, velocity, effort);
  }

  // Joint space to actuators.
  int to_actuators(
    const double * position, const double * velocity = nullptr,
    const double * effort = nullptr) noexcept
  {
    return ik_node_to_actuators(get(), position, velocity, effort);
  }

  const double * q() const noexcept { return ik_node_transmission_q(get()); }
  // `part` is IK_NODE_VELOCITY ... IK_NODE_SINGULARITY.
  const double * operator[](int part) const noexcept
  {
    return ik_node_transmission_get(get(), part);
  }

private:
  struct Free
  {
    void operator()(ik_node_transmission * each) const noexcept
    {
      ik_node_transmission_free(each);
    }
  };

  Robot robot_;
  std::unique_ptr<ik_node_transmission, Free> transmission_;
};

}  // namespace ik_node

#endif  // IK_NODE_HPP

// A control loop at 1 kHz: the first goal of a robot moves on a circle.
//
//   python3 -m ik_node export hexapod.urdf -o hexapod.ikr --goal platform_link --option restarts=0
//   control_loop hexapod.ikr [SECONDS [RADIUS]]
//
// Prints the percentiles of the time of a solve, and of how late the loop woke up.
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ik_node/ik_node.hpp"

namespace
{

constexpr long kPeriod = 1000000;  // [ns]
constexpr int kBudget = 200;       // steps of one tick

double seconds_between(const timespec & from, const timespec & to)
{
  return double(to.tv_sec - from.tv_sec) + 1e-9 * double(to.tv_nsec - from.tv_nsec);
}

void print_percentiles(const char * what, std::vector<double> & times)
{
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
      return 1e6 * times[std::min(times.size() - 1, std::size_t(share * double(times.size())))];
    };
  std::printf(
    "%-8s p50 %8.1f us   p99 %8.1f us   p99.9 %8.1f us   worst %8.1f us\n", what, at(0.5),
    at(0.99), at(0.999), 1e6 * times.back());
}

int run(const char * path, double seconds, double radius)
{
  const ik_node::Robot robot(path);
  ik_node::Problem problem(robot);
  const int goals = robot.count(IK_NODE_GOALS), joints = robot.count(IK_NODE_JOINTS);

  // All goals start at the present poses of their links, which have the same names.
  std::vector<double> poses(7 * std::size_t(robot.count(IK_NODE_LINKS)));
  problem.forward(robot.start(), poses.data());
  std::vector<double> positions, quats;
  for (int goal = 0; goal < goals; goal++) {
    const int link = robot.find(IK_NODE_LINKS, robot.name(IK_NODE_GOALS, goal));
    if (link < 0) {
      std::fprintf(stderr, "no link %s\n", robot.name(IK_NODE_GOALS, goal));
      return 2;
    }
    const double * pose = poses.data() + 7 * link;
    positions.insert(positions.end(), pose, pose + 3);
    quats.insert(quats.end(), pose + 3, pose + 7);
  }
  if (goals == 0) {
    std::fprintf(stderr, "%s has no goals\n", path);
    return 2;
  }
  const double x = positions[0], y = positions[1];

  // Without these rights the loop runs all the same, but wakes up later.
  sched_param priority{};
  priority.sched_priority = 80;
  if (
    sched_setscheduler(0, SCHED_FIFO, &priority) != 0 ||
    mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
  {
    std::fprintf(stderr, "no real-time priority or locked memory; see examples/cpp/README.md\n");
  }

  const std::size_t ticks = std::size_t(std::max(1.0, seconds * 1e9 / double(kPeriod)));
  std::vector<double> solve_times(ticks), wake_times(ticks);
  std::vector<double> q(robot.start(), robot.start() + joints);
  std::size_t converged = 0, unfinished = 0;
  timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (std::size_t tick = 0; tick < ticks; tick++) {
    due.tv_nsec += kPeriod;
    if (due.tv_nsec >= 1000000000) {
      due.tv_nsec -= 1000000000;
      due.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
    timespec woken, solved;
    clock_gettime(CLOCK_MONOTONIC, &woken);

    const double angle = 2.0 * M_PI * 1e-9 * double(kPeriod) * double(tick);  // one turn a second
    positions[0] = x + radius * std::cos(angle);
    positions[1] = y + radius * std::sin(angle);
    const int status = problem.solve(q.data(), positions.data(), quats.data(), kBudget);
    if (status == IK_NODE_CONVERGED) {
      std::copy(problem.q(), problem.q() + joints, q.begin());
      converged++;
      // Here a controller writes q to the motors, robot.is_actuated(joint).
    } else if (status == IK_NODE_RUNNING) {
      unfinished++;  // the motors keep their last command
    } else if (status < 0) {
      std::fprintf(stderr, "%s\n", ik_node_text(status));
      return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &solved);
    wake_times[tick] = seconds_between(due, woken);
    solve_times[tick] = seconds_between(woken, solved);
  }
  std::printf(
    "%s: %zu ticks, %zu converged, %zu out of steps\n", robot.name(), ticks, converged,
    unfinished);
  print_percentiles("solve", solve_times);
  print_percentiles("wake-up", wake_times);
  return converged == ticks ? 0 : 1;
}

}  // namespace

int main(int count, char ** words)
{
  if (count < 2) {
    std::fprintf(stderr, "usage: control_loop ROBOT.ikr [SECONDS [RADIUS]]\n");
    return 2;
  }
  try {
    return run(
      words[1], count > 2 ? std::atof(words[2]) : 10.0, count > 3 ? std::atof(words[3]) : 0.01);
  } catch (const ik_node::Error & error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

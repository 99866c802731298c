// Stub with the codes that kinematics plugins return.
#pragma once

#include <cstdint>

namespace moveit_msgs::msg
{

struct MoveItErrorCodes
{
  static constexpr std::int32_t SUCCESS = 1, FAILURE = 99999, TIMED_OUT = -6, NO_IK_SOLUTION = -31;
  std::int32_t val = 0;
};

}  // namespace moveit_msgs::msg

// Stub: names of interfaces.
#pragma once

namespace hardware_interface
{

constexpr char HW_IF_POSITION[] = "position";
constexpr char HW_IF_VELOCITY[] = "velocity";
constexpr char HW_IF_EFFORT[] = "effort";

}  // namespace hardware_interface

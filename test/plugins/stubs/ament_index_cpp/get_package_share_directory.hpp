// Stub: every package has the share folder that an environment variable names.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace ament_index_cpp
{

inline std::string get_package_share_directory(const std::string & package)
{
  const char * found = std::getenv("STUB_SHARE");
  if (found == nullptr) {
    throw std::runtime_error("package '" + package + "' not found");
  }
  return std::string(found) + "/" + package;
}

}  // namespace ament_index_cpp

// Stub of the log of rclcpp: lines on the standard error stream.
#pragma once

#include <cstdio>
#include <string>

namespace rclcpp
{

class Logger
{
public:
  explicit Logger(std::string name) : name_(std::move(name)) {}
  const char * get_name() const {return name_.c_str();}

private:
  std::string name_;
};

inline Logger get_logger(const std::string & name) {return Logger(name);}

}  // namespace rclcpp

#define RCLCPP_ERROR(logger, ...) \
  (std::fprintf(stderr, "ERROR %s: ", (logger).get_name()), \
  std::fprintf(stderr, __VA_ARGS__), std::fputc('\n', stderr))

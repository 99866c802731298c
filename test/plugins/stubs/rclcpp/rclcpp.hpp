// Stub of rclcpp: a node that has parameters, and a log on the standard error stream.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
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

class Parameter
{
public:
  Parameter() = default;
  explicit Parameter(std::string value) : value_(std::move(value)) {}
  std::string as_string() const {return value_;}

private:
  std::string value_;
};

class Node
{
public:
  using SharedPtr = std::shared_ptr<Node>;

  bool has_parameter(const std::string & name) const {return given.count(name) > 0;}

  void declare_parameter(const std::string & name, const std::string & value)
  {
    if (!given.emplace(name, value).second) {
      throw std::runtime_error("parameter " + name + " is declared twice");
    }
  }

  Parameter get_parameter(const std::string & name) const {return Parameter(given.at(name));}

  std::map<std::string, std::string> given;
};

}  // namespace rclcpp

#define RCLCPP_LOG(level, logger, ...) \
  (std::fprintf(stderr, "%s %s: ", level, (logger).get_name()), \
  std::fprintf(stderr, __VA_ARGS__), std::fputc('\n', stderr))
#define RCLCPP_ERROR(logger, ...) RCLCPP_LOG("ERROR", logger, __VA_ARGS__)
#define RCLCPP_WARN(logger, ...) RCLCPP_LOG("WARN", logger, __VA_ARGS__)

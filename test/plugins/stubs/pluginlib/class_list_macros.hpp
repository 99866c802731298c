// Stub of pluginlib: classes register themselves under their names, without shared libraries.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace pluginlib
{

template <typename Base>
std::map<std::string, std::function<std::shared_ptr<Base>()>> & classes()
{
  static std::map<std::string, std::function<std::shared_ptr<Base>()>> all;
  return all;
}

template <typename Class, typename Base>
bool enter(const std::string & name)
{
  // As in pluginlib, the constructor takes no argument.
  classes<Base>()[name] = [] {return std::shared_ptr<Base>(new Class());};
  return true;
}

}  // namespace pluginlib

#define PLUGINLIB_NAME(line) entered_##line
#define PLUGINLIB_ENTER(Class, Base, line) \
  static const bool PLUGINLIB_NAME(line) = pluginlib::enter<Class, Base>(#Class);
#define PLUGINLIB_EXPORT_CLASS(Class, Base) PLUGINLIB_ENTER(Class, Base, __LINE__)

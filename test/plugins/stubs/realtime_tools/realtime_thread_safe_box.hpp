// Stub: a value behind a mutex.
#pragma once

#include <mutex>
#include <optional>

namespace realtime_tools
{

template <typename Value>
class RealtimeThreadSafeBox
{
public:
  void set(const Value & value)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    value_ = value;
  }

  std::optional<Value> try_get() const
  {
    const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    return lock.owns_lock() ? std::optional<Value>(value_) : std::nullopt;
  }

private:
  mutable std::mutex mutex_;
  Value value_;
};

}  // namespace realtime_tools

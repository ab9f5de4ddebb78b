#include "settings.hpp"

#include <cstdlib>
#include <fstream>

namespace made_up {
namespace {

std::string text_of(const char* name) {
  const char* value = std::getenv(("CUDAOPT_MADE_UP_" + std::string(name)).c_str());
  return value == nullptr ? "" : value;
}

template <class Number>
void read(const char* name, Number& into) {
  if (const std::string value = text_of(name); !value.empty())
    into = static_cast<Number>(std::stoull(value));
}

Settings from_environment() {
  Settings settings;
  read("GPUS", settings.gpus);
  read("DRIVER", settings.driver);
  read("INIT", settings.init);
  read("OWN_MODULE", settings.own_module);
  read("OWN_KERNEL", settings.own_kernel);
  read("CAPABILITY", settings.capability);
  read("GUARD_PAGES", settings.guard_pages);
  read("MEMORY_BYTES", settings.memory_bytes);
  read("L2_BYTES", settings.l2_bytes);
  read("THROTTLE_AFTER", settings.throttle_after);
  read("NOISE_TICKS", settings.noise_ticks);
  settings.log = text_of("LOG");
  return settings;
}

Settings& current() {
  static Settings read_once = from_environment();
  return read_once;
}

}  // namespace

const Settings& settings() { return current(); }

void read_settings_again() { current() = from_environment(); }

void log(const std::string& line) {
  if (settings().log.empty()) return;
  std::ofstream(settings().log, std::ios::app) << line << '\n';
}

}  // namespace made_up

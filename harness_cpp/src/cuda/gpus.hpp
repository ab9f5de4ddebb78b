// The driver, and per GPU a context and the files it keeps, opened when first asked for and kept:
// opening takes a quarter of a second.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cuda/context.hpp"
#include "cuda/driver.hpp"
#include "cuda/file_cache.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

class Gpus {
 public:
  // Empty: the usual name.
  explicit Gpus(std::string driver_path);

  // GPU `index` of those that are visible. Throws Fault no_device. Must outlive what it opened.
  [[nodiscard]] std::unique_ptr<Device> open(int index);

 private:
  struct OpenGpu {
    OpenGpu(const Driver& driver, int index) : context(driver, index), files(context) {}
    Context context;
    FileCache files;
  };

  std::string m_driver_path;
  std::unique_ptr<Driver> m_driver;
  std::map<int, std::unique_ptr<OpenGpu>> m_open;  // goes before the driver
};

}  // namespace cudaopt::cuda

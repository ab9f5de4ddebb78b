// The devices a request can ask for. Lives as long as the process, as the driver and the GPUs'
// contexts must; each request gets a Device of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cuda/gpus.hpp"
#include "device.hpp"
#include "protocol/request.hpp"

namespace cudaopt::steps {

// N of "cuda:N"; nullopt for any other text.
[[nodiscard]] std::optional<int> gpu_index_of(const std::string& device);

class Devices {
 public:
  // `driver_path` empty: the usual name. Nothing is opened before a request asks for a GPU.
  explicit Devices(std::string driver_path) : m_gpus(std::move(driver_path)) {}
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;
  virtual ~Devices() = default;

  // Throws Fault invalid_request (no such kind of device) and what making the device throws.
  [[nodiscard]] virtual std::unique_ptr<Device> open(const protocol::Request& request);

 private:
  cuda::Gpus m_gpus;
};

}  // namespace cudaopt::steps

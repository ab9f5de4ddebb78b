#include "cuda/gpus.hpp"

#include <utility>

#include "cuda/cuda_device.hpp"

namespace cudaopt::cuda {

Gpus::Gpus(std::string driver_path) : m_driver_path(std::move(driver_path)) {}

std::unique_ptr<Device> Gpus::open(int index) {
  if (!m_driver) m_driver = std::make_unique<Driver>(m_driver_path);
  std::unique_ptr<Context>& context = m_contexts[index];
  if (!context) context = std::make_unique<Context>(*m_driver, index);
  return make_cuda_device(*context,
                          "cuda:" + std::to_string(index) + " (" + context->facts().name + ")");
}

}  // namespace cudaopt::cuda

#include "cuda/gpus.hpp"

#include <utility>

#include "cuda/cuda_device.hpp"

namespace cudaopt::cuda {

Gpus::Gpus(std::string driver_path) : m_driver_path(std::move(driver_path)) {}

std::unique_ptr<Device> Gpus::open(int index) {
  if (!m_driver) m_driver = std::make_unique<Driver>(m_driver_path);
  std::unique_ptr<OpenGpu>& gpu = m_open[index];
  if (!gpu) gpu = std::make_unique<OpenGpu>(*m_driver, index);
  return make_cuda_device(gpu->context, gpu->files,
                          "cuda:" + std::to_string(index) + " (" + gpu->context.facts().name + ")");
}

}  // namespace cudaopt::cuda

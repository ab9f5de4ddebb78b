#include "steps/devices.hpp"

#include <algorithm>

#include "sim/sim_device.hpp"

namespace cudaopt::steps {
namespace {

const std::string kGpuPrefix = "cuda:";
constexpr std::size_t kMostIndexDigits = 4;

std::unique_ptr<Device> make_sim(const protocol::SimOptionsEntry& asked) {
  SimOptions options;
  options.threads = asked.threads;
  options.isa = asked.isa;
  options.model = asked.model;
  options.block_instructions = asked.block_instructions;
  return make_sim_device(options);
}

}  // namespace

std::optional<int> gpu_index_of(const std::string& device) {
  if (device.rfind(kGpuPrefix, 0) != 0) return std::nullopt;
  const std::string digits = device.substr(kGpuPrefix.size());
  const bool number =
      !digits.empty() && digits.size() <= kMostIndexDigits &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number) return std::nullopt;
  return std::stoi(digits);
}

std::unique_ptr<Device> Devices::open(const protocol::Request& request) {
  if (request.device == "sim") return make_sim(request.sim);
  if (const auto index = gpu_index_of(request.device)) return m_gpus.open(*index);
  throw Fault(FaultKind::invalid_request, "request.device: expected \"sim\" or \"cuda:N\", got \"" +
                                              request.device +
                                              "\". Use \"sim\", or \"cuda:0\" for the first GPU.");
}

}  // namespace cudaopt::steps

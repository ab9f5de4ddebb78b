// What a made-up launch does. Nothing is executed: a kernel's name says how it behaves, and every
// kernel but our own helpers has the parameters (const float* x, float* y, int n), or, if its name
// says `in_struct`, a struct of these.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "result.hpp"
#include "variables.hpp"

namespace made_up {

// A kernel of a loaded module, and what it keeps from one launch to the next.
struct Function {
  explicit Function(std::string of) : name(std::move(of)) {}

  std::string name;
  bool is_loaded = false;               // its code, which the driver may put off
  int dynamic_shared_bytes = 48 << 10;  // the most it may be launched with
  std::vector<float> remembered;
  const Variables* variables = nullptr;  // of its module
};

struct Launch {
  std::shared_ptr<Function> function;
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  std::array<unsigned, 3> cluster{};  // 0: none
  bool is_cooperative = false;
  std::vector<std::uint64_t> values;  // one per parameter
};

// Whether it is one of the harness's helper kernels.
[[nodiscard]] bool is_ours(const std::string& name);
// Bytes of each parameter, in order.
[[nodiscard]] std::vector<std::uint64_t> parameter_bytes(const std::string& name);
// Blocks of the clusters it is compiled for, in a row: the number in `clusters_of_2`; else 0.
[[nodiscard]] int cluster_of(const std::string& name);
// What cuLaunchKernel answers at once: the number in `refuses_701`.
[[nodiscard]] Result refusal(const std::string& name);
// Whether launching it waits for the GPU: `waits_for_gpu`, and `loads_late` until it is loaded.
[[nodiscard]] bool waits_for_gpu(const Function& function);
// The number in `takes_960_ns`; without one, 5000.
[[nodiscard]] std::uint64_t duration_ns(const std::string& name);
// x[0], which tells contents apart; empty where there is none.
[[nodiscard]] std::string first_input(const Launch& launch);
// Does what the name says; the result is what the next synchronisation answers.
[[nodiscard]] Result execute(const Launch& launch);

}  // namespace made_up

// Device tables: lookup by name.
#include <stdexcept>

#include "check.hpp"
#include "model/device_table.hpp"

using cudaopt::model::device_table;

TEST("the h200 table holds the limits of compute capability 9.0") {
  const auto& table = device_table("h200");
  CHECK_EQUAL(132u, table.multiprocessors);
  CHECK_EQUAL(64u, table.warps_per_sm);
  CHECK_EQUAL(233472u, table.shared_bytes_per_sm);
}

TEST("an unknown device table is refused with the known names") {
  std::string message;
  try {
    (void)device_table("h2000");
  } catch (const std::invalid_argument& error) {
    message = error.what();
  }
  CHECK_EQUAL(std::string("sim.model: expected one of h200, got 'h2000'"), message);
}

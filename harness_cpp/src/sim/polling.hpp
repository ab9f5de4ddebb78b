// Instructions by which a thread looks whether others have done something, and those by which it
// does something itself. A warp that executes only the former goes round in a loop until it may go
// on: a lock, a flag, a grid's barrier.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.hpp"

namespace cudaopt::sim {

// Fills `polling` and `storing` of a program whose code is complete. Polling are atomics whose
// result is used, loads that see what others write, fences, sleep and tests of an mbarrier; a loop
// that waits with plain loads alone is not recognised, and ends with its budget.
void note_polling(Program& program);

}  // namespace cudaopt::sim

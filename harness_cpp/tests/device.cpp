// Counters add up, and every fault has the word PROTOCOL.md gives it.
#include "device.hpp"

#include "check.hpp"

using namespace cudaopt;

TEST("counters of two blocks are summed, and the largest block is the larger of the two") {
  Counters a, b;
  a.blocks = 1, a.warp_instructions[0] = 10, a.max_block_instructions = 10, a.atomic_requests = 3;
  b.blocks = 2, b.warp_instructions[7] = 4, b.max_block_instructions = 4, b.atomic_requests = 1;
  a.add(b);
  CHECK_EQUAL(3u, a.blocks);
  CHECK_EQUAL(14u, a.total_warp_instructions());
  CHECK_EQUAL(10u, a.max_block_instructions);
  CHECK_EQUAL(4u, a.atomic_requests);
}

TEST("a fault and a pipe have the names of the protocol") {
  CHECK_EQUAL(std::string("illegal_address"), name_of(FaultKind::illegal_address));
  CHECK_EQUAL(std::string("invalid_request"), name_of(FaultKind::invalid_request));
  CHECK_EQUAL(std::string("integer"), name_of(Pipe::integer));
}

#include <random>

#include "check.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/parser.hpp"

using namespace cudaopt::ptx;

namespace {

ControlFlow flow_of(const std::string& body) {
  const Module module =
      parse(".version 9.5\n.entry k {.reg .pred %p<9>; .reg .b32 %r<9>;" + body + "}");
  return build_control_flow(module.functions[0]);
}

// "0:1,2/3" is block 0 with successors 1 and 2 and post-dominator 3; x is the exit.
std::string shown(const ControlFlow& flow) {
  const auto name = [](std::int32_t b) { return b == kExit ? "x" : std::to_string(b); };
  std::string text;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    text += (b == 0 ? "" : " ") + std::to_string(b) + ":";
    for (const std::int32_t s : flow.blocks[b].successors) {
      if (text.back() != ':') text += ",";
      text += name(s);
    }
    text += "/" + name(flow.blocks[b].post_dominator);
  }
  return text;
}

// Can `from` reach the exit without passing `avoided`?
bool leaves(const ControlFlow& flow, std::int32_t from, std::int32_t avoided) {
  std::vector<bool> seen(flow.blocks.size(), false);
  std::vector<std::int32_t> pending{from};
  while (!pending.empty()) {
    const std::int32_t b = pending.back();
    pending.pop_back();
    if (b == kExit) return true;
    if (b == avoided || seen[b]) continue;
    seen[b] = true;
    for (const std::int32_t s : flow.blocks[b].successors) pending.push_back(s);
  }
  return false;
}

bool post_dominates(const ControlFlow& flow, std::int32_t later, std::int32_t block) {
  return leaves(flow, block, -2) && leaves(flow, later, -2) && !leaves(flow, block, later);
}

// By definition: the strict post-dominator that every other one post-dominates.
std::int32_t slow_post_dominator(const ControlFlow& flow, std::int32_t block) {
  const auto count = static_cast<std::int32_t>(flow.blocks.size());
  std::vector<std::int32_t> all;
  for (std::int32_t d = 0; d < count; ++d)
    if (d != block && post_dominates(flow, d, block)) all.push_back(d);
  for (const std::int32_t d : all) {
    bool nearest = true;
    for (const std::int32_t other : all) nearest &= other == d || post_dominates(flow, other, d);
    if (nearest) return d;
  }
  return kExit;
}

std::string random_body(std::mt19937& random, int blocks) {
  std::string body;
  for (int b = 0; b < blocks; ++b) {
    body += "L" + std::to_string(b) + ": add.s32 %r1, %r1, 1;";
    const std::string target = "L" + std::to_string(random() % (blocks + 1)) + ";";
    switch (random() % 6) {
      case 0:
        body += "bra " + target;
        break;
      case 1:
      case 2:
        body += "@%p1 bra " + target;
        break;
      case 3:
        body += random() % 3 == 0 ? "ret;" : "@%p1 ret;";
        break;
      default:
        break;
    }
  }
  return body + "L" + std::to_string(blocks) + ":";
}

}  // namespace

TEST("straight code is one block") { CHECK_EQUAL("0:x/x", shown(flow_of("ret;"))); }

TEST("code that runs off its end leaves") {
  CHECK_EQUAL("0:x/x", shown(flow_of("add.s32 %r1, %r1, 1;")));
}

TEST("no instructions, no blocks") { CHECK(flow_of("").blocks.empty()); }

TEST("if and else meet behind both") {
  CHECK_EQUAL(
      "0:2,1/3 1:3/3 2:3/3 3:x/x",
      shown(flow_of("@%p1 bra E; add.s32 %r1, 1, 1; bra J; E: add.s32 %r1, 2, 2; J: ret;")));
}

TEST("a loop's lanes meet behind it") {
  CHECK_EQUAL("0:1/1 1:1,2/2 2:x/x",
              shown(flow_of("add.s32 %r1, 1, 1; L: add.s32 %r1, 1, 1; @%p1 bra L; ret;")));
}

TEST("a guarded return is a way out") {
  CHECK_EQUAL("0:x,1/x 1:x/x", shown(flow_of("@%p1 ret; ret;")));
}

TEST("a label at the end is the exit") {
  CHECK_EQUAL("0:x,1/x 1:x/x", shown(flow_of("@%p1 bra END; add.s32 %r1, 1, 1; END:")));
}

TEST("an indexed branch has every label as successor, once") {
  CHECK_EQUAL("0:2,1/x 1:x/x 2:x/x",
              shown(flow_of("ts: .branchtargets B, A, B; brx.idx %r1, ts; A: ret; B: ret;")));
}

TEST("a branch to the next instruction has one successor") {
  CHECK_EQUAL("0:1/1 1:x/x", shown(flow_of("@%p1 bra L; L: ret;")));
}

TEST("blocks of an endless loop have no post-dominator; those before it that can leave do") {
  CHECK_EQUAL("0:2,1/2 1:1/x 2:x/x", shown(flow_of("@%p1 bra OUT; L: bra L; OUT: ret;")));
}

TEST("unreachable blocks do not disturb the others") {
  CHECK_EQUAL("0:2/2 1:2/2 2:x/x", shown(flow_of("bra A; add.s32 %r1, 1, 1; A: ret;")));
}

TEST("every instruction is in the block that holds it") {
  const ControlFlow flow = flow_of("add.s32 %r1, 1, 1; @%p1 bra L; add.s32 %r1, 1, 1; L: ret;");
  for (std::size_t i = 0; i < flow.block_of.size(); ++i) {
    const BasicBlock& block = flow.blocks[flow.block_of[i]];
    CHECK(block.first <= static_cast<std::int32_t>(i) && static_cast<std::int32_t>(i) < block.end);
  }
}

TEST("post-dominators of random graphs are those of the definition") {
  std::mt19937 random(7);
  for (int graph = 0; graph < 300; ++graph) {
    const std::string body = random_body(random, 1 + static_cast<int>(random() % 12));
    const ControlFlow flow = flow_of(body);
    for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
      const auto block = static_cast<std::int32_t>(b);
      if (slow_post_dominator(flow, block) != flow.blocks[b].post_dominator)
        throw check::Failure("block " + std::to_string(b) + " of " + body + "\n" + shown(flow));
    }
  }
}

// Random structured programs: warps of any instruction set, on any number of threads and in any
// order, against an interpreter that runs one thread at a time.
#include "isa.hpp"
#include "random_program_generator.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;
using random_program::Body;
using random_program::Generator;
using random_program::kSlots;
using random_program::State;

namespace {

constexpr std::uint32_t kThreads = 75, kBlocks = 3, kPrograms = 300;

struct Results {
  Words words, slots;
};

Results alone(const Body& program) {
  Results results;
  for (std::uint32_t thread = 0; thread < kThreads * kBlocks; ++thread) {
    State state;
    for (std::uint32_t i = 0; i < kSlots; ++i) state.global[i] = thread * kSlots + i;
    results.words.push_back(random_program::result_alone(program, thread, state));
    results.slots.insert(results.slots.end(), state.global.begin(), state.global.end());
  }
  return results;
}

std::string text_of(const Body& program) {
  return random_program::kernel_body(program, kThreads) + store_word("%r0");
}

Results on_sim(const Body& program, const SimOptions& options, const Order& order) {
  Kernel kernel(2, text_of(program), "", options);
  kernel.buffer("y", Words(kThreads * kBlocks));
  kernel.buffer("m", counting(kThreads * kBlocks * kSlots));
  LaunchSpec launch = kernel.spec(kThreads, kBlocks);
  launch.order = order;
  (void)kernel.device().launch(launch);
  return {kernel.read("y"), kernel.read("m")};
}

void compare(std::uint32_t seed, const SimOptions& options, const Order& order = {}) {
  const Body program = Generator(seed).program();
  const Results expected = alone(program), got = on_sim(program, options, order);
  CHECK_WORDS(expected.words, got.words);
  CHECK_WORDS(expected.slots, got.slots);
}

SimOptions options(const std::string& isa, unsigned threads) {
  SimOptions made;
  made.isa = isa;
  made.threads = threads;
  return made;
}

}  // namespace

TEST("a random program with memory ends as every thread would alone, by baseline handlers") {
  for (std::uint32_t seed = 1; seed <= kPrograms; ++seed) compare(seed, options("x86-64", 1));
}

TEST("a random program with memory ends as every thread would alone, by v3 handlers") {
  if (host_isa() != Isa::v3) return;
  for (std::uint32_t seed = 1; seed <= kPrograms; ++seed) compare(seed, options("x86-64-v3", 1));
}

TEST("a random program with memory ends the same on several threads") {
  for (std::uint32_t seed = 1; seed <= kPrograms; ++seed) compare(seed, options("auto", 3));
}

TEST("a random program with memory ends the same in any order") {
  for (std::uint32_t seed = 1; seed <= kPrograms; ++seed) {
    const bool reverse = seed % 2 == 0;
    compare(seed, options("auto", 1), {reverse ? Order::Kind::reverse : Order::Kind::random, seed});
  }
}

// Breaks the program and not the executor: a difference must show.
TEST("a random program of another seed ends otherwise") {
  const Results expected = alone(Generator(1).program());
  const Results other = on_sim(Generator(2).program(), options("auto", 1), {});
  CHECK(expected.words != other.words);
}

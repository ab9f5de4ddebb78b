// What blocks print, collected from any thread in the order of the blocks.
#include "check.hpp"
#include "sim/printed_text.hpp"

using namespace cudaopt::sim;

TEST("of a launch that ended at a block, what later ones printed is forgotten") {
  PrintedText printed;
  for (std::uint64_t block = 0; block < 4; ++block) printed.add(block, std::string(1, 'a' + block));
  printed.forget_after(1);
  CHECK_EQUAL(std::string("ab"), printed.take());
}

TEST("blocks are printed in their order, whoever finishes first") {
  PrintedText printed;
  printed.add(2, "c");
  printed.add(0, "a");
  printed.add(1, "");
  printed.add(7, "d");
  CHECK_EQUAL(std::string("acd"), printed.take());
  CHECK_EQUAL(std::string(""), printed.take());
}

TEST("what does not fit is dropped from the end, the same in every order") {
  const std::string half(kMostPrinted / 2, 'x');
  const std::string expected =
      half + std::string(kMostPrinted / 2, 'y') + "\n[printf: only the first 1 MiB are shown]\n";
  for (const bool forward : {true, false}) {
    PrintedText printed;
    for (int i = 0; i < 4; ++i) {
      const auto block = static_cast<std::uint64_t>(forward ? i : 3 - i);
      printed.add(block, block == 0 ? half : std::string(kMostPrinted / 2, 'x' + (block == 1)));
    }
    CHECK_EQUAL(expected, printed.take());
  }
  PrintedText exact;
  exact.add(0, std::string(kMostPrinted, 'z'));
  CHECK_EQUAL(kMostPrinted, exact.take().size());
}

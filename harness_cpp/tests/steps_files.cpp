// Whole files, and the words about those that are missing or of the wrong size.
#include "check.hpp"
#include "device.hpp"
#include "steps/files.hpp"
#include "temporary_folder.hpp"

using namespace cudaopt;
using cudaopt::steps::Files;

namespace {

template <class Body>
std::string refusal_of(const Body& body) {
  try {
    body();
  } catch (const Fault& fault) {
    CHECK(fault.detail().kind == FaultKind::invalid_request);
    return fault.what();
  }
  return "accepted";
}

}  // namespace

TEST("what is written is read back, relative to the directory") {
  const check::TemporaryFolder folder;
  const Files files(folder.path());
  files.write("a.bin", "abc", 3, "x");
  CHECK(files.exists("a.bin"));
  CHECK_EQUAL(std::string("abc"), files.read_text("a.bin", "x"));
  CHECK_EQUAL(3u, files.read_exactly(folder.path() + "/a.bin", 3, "x").size());
}

TEST("a file of the wrong size is refused with both sizes") {
  const check::TemporaryFolder folder;
  const Files files(folder.path());
  files.write("a.bin", "abc", 3, "x");
  CHECK_EQUAL("buffer \"x\": file \"" + folder.path() +
                  "/a.bin\": expected 8 bytes, got 3. Write exactly the buffer's bytes.",
              refusal_of([&] { (void)files.read_exactly("a.bin", 8, "buffer \"x\""); }));
}

TEST("a file that is missing, and one that cannot be written, are refused by path") {
  const check::TemporaryFolder folder;
  const Files files(folder.path());
  CHECK(!files.exists("a.bin"));
  CHECK(refusal_of([&] { (void)files.read_exactly("a.bin", 8, "x"); }).find("/a.bin") !=
        std::string::npos);
  CHECK(refusal_of([&] { (void)files.read_text("a.bin", "x"); }).find("No such file") !=
        std::string::npos);
  CHECK(refusal_of([&] { files.write("no/a.bin", "abc", 3, "x"); }).find("no/a.bin") !=
        std::string::npos);
}

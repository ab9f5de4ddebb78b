// Variables of a module on a GPU: written before each launch, whoever launches.
#include <algorithm>
#include <fstream>

#include "cuda/cuda_device.hpp"
#include "cuda/symbols.hpp"
#include "made_up_gpu.hpp"
#include "temporary_folder.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

// `spends_`: a launch leaves 0 in the variable. Each says its name twice: as kernel and as text.
const std::string kModule = "weighs_takes_960_ns\nspends_weighs_takes_960_ns\nvariable weight 8\n";

// A device with x = 1, 2, 3, 4, an output y, and w = 3, 0 for the module's variable.
struct Opened {
  explicit Opened(Settings settings = {})
      : gpu(std::move(settings)),
        device(cuda::make_cuda_device(gpu.context(), gpu.files(), "cuda:0")) {
    device->load(module_of(kModule));
    device->create_buffer(buffer_of("x", 16, Access::read));
    device->create_buffer(buffer_of("y", 16, Access::write));
    device->create_buffer(buffer_of("w", 8, Access::read));
    device->create_buffer(buffer_of("short", 4, Access::read));
    device->write("x", bytes_of({1, 2, 3, 4}));
    device->write("w", bytes_of({3, 0}));
  }

  std::vector<float> launched(const LaunchSpec& spec) const {
    device->launch(spec);
    return floats_of(device->read("y"));
  }

  Gpu gpu;
  std::unique_ptr<Device> device;
};

LaunchSpec weighed(const std::string& entry, const std::string& buffer = "w",
                   const std::string& variable = "weight") {
  LaunchSpec spec = launch_of(entry, 4);
  spec.symbols = {{variable + "_as_written", variable, buffer}};
  return spec;
}

MeasureSpec quickly(SamplingMode mode) {
  MeasureSpec how;
  how.warmup = {2, 0};
  how.samples = 6;
  how.mode = mode;
  how.capture = {"y"};
  return how;
}

// Of the variable, whose 8 bytes no other copy has.
int most_launches_between_writes(const std::string& path) {
  std::ifstream lines(path);
  int most = 0, launches = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("launch weighs", 0) == 0) most = std::max(most, ++launches);
    if (line.rfind("copy of 8 bytes", 0) == 0) launches = 0;
  }
  return most;
}

const std::vector<float> kWeighed = {3, 6, 9, 12};

}  // namespace

TEST("a variable is written before each launch, whatever a launch left in it") {
  const Opened opened;
  const LaunchSpec spec = weighed("spends_weighs_takes_960_ns");
  CHECK(kWeighed == opened.launched(spec));
  CHECK(kWeighed == opened.launched(spec));
}

TEST("a variable is written before each timed launch, and before each replay of a batch") {
  for (const SamplingMode mode : {SamplingMode::cold, SamplingMode::batch}) {
    const Opened opened;
    const LaunchSpec spec = weighed("weighs_takes_960_ns");
    const Measurement measured = opened.device->measure(spec, quickly(mode));
    CHECK(mode == measured.timing.value().captured.value().mode);
    CHECK(kWeighed == floats_of(measured.timing->captured->outputs.at("y")));
    CHECK_EQUAL(960.0, measured.median_ns);
  }
  const Opened opened;
  const Measurement spent =
      opened.device->measure(weighed("spends_weighs_takes_960_ns"), quickly(SamplingMode::cold));
  CHECK(kWeighed == floats_of(spent.timing.value().captured.value().outputs.at("y")));
}

TEST("between two replays of a batch the variable is written again") {
  const check::TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  const Opened opened({{"LOG", path}});
  const Measurement measured =
      opened.device->measure(weighed("weighs_takes_960_ns"), quickly(SamplingMode::batch));
  CHECK_EQUAL(measured.timing.value().batch.value().launches, most_launches_between_writes(path));
}

TEST("each arm of an interleaved measurement has its own module's variable written") {
  const Opened opened;
  InterleaveSpec how;
  how.arms = {weighed("weighs_takes_960_ns"), weighed("spends_weighs_takes_960_ns")};
  how.blocks = 2;
  how.launches = 2;
  how.warmup = {2, 0};
  for (const SamplingMode mode : {SamplingMode::cold, SamplingMode::batch}) {
    how.mode = mode;
    const InterleavedTiming timing = opened.device->interleave(how);
    CHECK(mode == timing.mode);
    CHECK_EQUAL(960.0, timing.arms[0].median_ns);
  }
}

TEST("a variable that is not there, or has another size, is refused by its written name") {
  const Opened opened;
  const auto refusal = [&](const LaunchSpec& spec) {
    return fault_of([&] { opened.device->launch(spec); });
  };
  const FaultDetail unknown = refusal(weighed("weighs_takes_960_ns", "w", "height"));
  CHECK(unknown.kind == FaultKind::unknown_entry);
  CHECK(says(unknown, "module 'm' has no __constant__ or __device__ variable 'height_as_written'"));
  const FaultDetail size = refusal(weighed("weighs_takes_960_ns", "short"));
  CHECK(size.kind == FaultKind::invalid_launch);
  CHECK(
      says(size, "its variable 'weight_as_written' has 8 bytes, expected the 4 that are declared"));
}

TEST("a kernel gets its arguments in a struct") {
  Opened opened;
  opened.device->load(module_of("copies_in_struct"));
  LaunchSpec spec = launch_of("copies_in_struct", 4);
  Argument whole;
  whole.kind = Argument::Kind::structure;
  whole.bytes.resize(24);
  whole.members = spec.arguments;
  whole.members[1].offset = 8;
  whole.members[2].offset = 16;
  spec.arguments = {whole};
  CHECK(opened.launched(spec) == (std::vector<float>{1, 2, 3, 4}));
  const Measurement measured = opened.device->measure(spec, quickly(SamplingMode::batch));
  CHECK(floats_of(measured.timing.value().captured.value().outputs.at("y")) ==
        (std::vector<float>{1, 2, 3, 4}));
  spec.arguments[0].bytes.resize(32);
  CHECK(says(fault_of([&] { opened.device->launch(spec); }), "parameter 0 has 24 bytes, got 32"));
}

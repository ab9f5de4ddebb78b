// What the executor asks of its device, step by step; the device writes it down.
#include <algorithm>

#include "check.hpp"
#include "steps/executor.hpp"
#include "temporary_folder.hpp"

using namespace cudaopt;
using namespace cudaopt::protocol;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Log = std::vector<std::string>;

const std::string kPtx = ".version 8.0\n.target sm_90\n.visible .entry _k(\n)\n{\nret;\n}\n";

std::string text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

class NotingDevice final : public Device {
 public:
  NotingDevice(Log& log, const Measurement& measurement) : m_log(log), m_measurement(measurement) {}
  [[nodiscard]] std::string description() const override { return "noting"; }
  [[nodiscard]] DeviceLimits limits() const override { return {}; }
  std::vector<std::string> load(const CompiledModule& module) override {
    m_log.push_back("load " + module.name + " cubin=" + text(module.cubin));
    return {};
  }
  void create_buffer(const BufferSpec& spec) override {
    const std::string tile = spec.tile.empty() ? "" : " tile=" + std::to_string(spec.tile.size());
    m_log.push_back("create " + spec.name + tile);
  }
  void write(const std::string& buffer, const Bytes& bytes) override {
    m_log.push_back("write " + buffer + "=" + text(bytes));
  }
  [[nodiscard]] Bytes read(const std::string&) override { return m_held; }
  void fill(const std::string&, const Bytes& pattern) override { m_held = pattern; }
  void poison(const std::string& buffer, const std::optional<Bytes>& pattern) override {
    m_log.push_back("poison " + buffer + (pattern ? "=" + text(*pattern) : ""));
  }
  [[nodiscard]] bool guards_intact(const std::string&) override { return true; }
  LaunchReport launch(const LaunchSpec&) override { return {}; }
  Measurement measure(const LaunchSpec& spec, const MeasureSpec& how) override {
    m_log.push_back("measure " + spec.entry);
    for (const FileContents& contents : how.contents) note("contents", contents);
    if (how.held_out) note("held out", *how.held_out);
    return m_measurement;
  }
  InterleavedTiming interleave(const InterleaveSpec& spec) override {
    for (const LaunchSpec& arm : spec.arms) m_log.push_back("arm " + arm.entry);
    InterleavedTiming timing;
    timing.arms.resize(spec.arms.size());
    return timing;
  }

 private:
  void note(const std::string& what, const FileContents& contents) {
    std::string line = what;
    for (const auto& [buffer, file] : contents) line += " " + buffer + "=" + text(file.read());
    m_log.push_back(line);
  }

  Log& m_log;
  Measurement m_measurement;
  Bytes m_held;  // by every buffer, as the last fill said
};

class NotingDevices final : public steps::Devices {
 public:
  NotingDevices() : Devices("") {}
  [[nodiscard]] std::unique_ptr<Device> open(const Request&) override {
    return std::make_unique<NotingDevice>(log, measurement);
  }
  Log log;
  Measurement measurement;
};

// A module from files, a buffer x with contents, y without, and an alias of x.
class Scene {
 public:
  Scene() {
    put("m.ptx", kPtx);
    put("x.bin", "abcd");
  }

  void put(const std::string& name, const std::string& content) const {
    steps::Files(m_folder.path()).write(name, content.data(), content.size(), "test");
  }
  [[nodiscard]] std::string content_of(const std::string& name) const {
    return steps::Files(m_folder.path()).read_text(name, "test");
  }

  [[nodiscard]] bool has(const std::string& name) const {
    return steps::Files(m_folder.path()).exists(name);
  }

  std::vector<StepAnswer> run(const std::string& steps, const std::string& device = "sim",
                              const std::string& module_keys = R"(, "ptx_file": "m.ptx")",
                              const std::string& more_buffers = "") {
    const Document document(
        R"({"protocol": 1, "nonce": "n1", "device": ")" + device +
            R"(", "modules": [{"name": "m", "lowered": {"k": "_k"})" + module_keys +
            R"(}], "buffers": [{"name": "x", "bytes": 4, "initial_file": "x.bin"},
                {"name": "y", "bytes": 4}, {"name": "z", "bytes": 4, "alias": "x"})" +
            more_buffers + R"(], "steps": [)" + steps + "]}",
        "request");
    const Request request = parse_request(document, m_folder.path());
    steps::Progress progress;
    compile::NvrtcLibraries libraries;
    steps::Executor(request, libraries, "", devices, progress).run();
    return progress.answer().steps;
  }

  // What the device was asked after the buffers were made.
  [[nodiscard]] Log asked() const { return {devices.log.begin() + 4, devices.log.end()}; }

  NotingDevices devices;

 private:
  check::TemporaryFolder m_folder;
};

std::string timed(const std::string& kind, const std::string& keys) {
  return R"({"do": "load", "module": "m"}, {"do": ")" + kind + "\", " + keys + "}";
}

constexpr const char* kLaunch =
    R"("module": "m", "entry": "k", "grid": [1,1,1], "block": [1,1,1], "arguments": [])";

void check_log(const Log& expected, const Log& got) {
  const auto joined = [](const Log& log) {
    std::string lines;
    for (const std::string& line : log) lines += "\n  " + line;
    return lines;
  };
  CHECK_EQUAL(joined(expected), joined(got));
}

template <class Body>
void check_invalid(const Body& body, const std::string& words) {
  std::string message = "accepted";
  try {
    body();
  } catch (const Fault& fault) {
    CHECK(fault.detail().kind == FaultKind::invalid_request);
    message = fault.what();
  }
  if (message.find(words) == std::string::npos) throw check::Failure("not in: " + message);
}

}  // namespace

TEST("buffers are made in the request's order and get their files") {
  Scene scene;
  scene.run("");
  check_log({"create x", "write x=abcd", "create y", "create z"}, scene.devices.log);
}

TEST("a reset poisons every buffer that owns memory, then writes initial contents again") {
  Scene scene;
  scene.run(R"({"do": "reset"}, {"do": "reset", "poison": "4142"})");
  check_log({"poison x", "write x=abcd", "poison y", "poison x=AB", "write x=abcd", "poison y=AB"},
            scene.asked());
}

TEST("contents and held-out contents reach the device as bytes") {
  Scene scene;
  scene.put("x1.bin", "1111");
  scene.put("x2.bin", "2222");
  scene.run(timed(
      "measure",
      std::string(kLaunch) + R"(, "contents": [{"x": "x1.bin"}], "held_out": {"x": "x2.bin"})"));
  check_log({"load m cubin=", "measure _k", "contents x=1111", "held out x=2222"}, scene.asked());
}

TEST("contents of the wrong size are refused with both sizes") {
  Scene scene;
  scene.put("x1.bin", "11111");
  check_invalid(
      [&] {
        scene.run(timed("measure", std::string(kLaunch) + R"(, "contents": [{"x": "x1.bin"}])"));
      },
      "x1.bin\": expected 4 bytes, got 5");
}

TEST("a read that asks for changes writes what differs from the last read, and nothing else") {
  const auto changes = [](const std::vector<StepAnswer>& answers) {
    std::vector<int> list;
    for (const StepAnswer& answer : answers) {
      if (const auto* read = std::get_if<ReadAnswer>(&answer)) {
        list.push_back(read->changed ? *read->changed : -1);
      }
    }
    return list;
  };
  const std::string asks = R"({"do": "read", "buffer": "y", "if_changed": true, "file": "n1.)";
  Scene scene;
  scene.put("n1.same", "of an earlier request");
  const std::vector<StepAnswer> answers =
      scene.run(R"({"do": "fill", "buffer": "y", "pattern": "41"},
                {"do": "read", "buffer": "y", "file": "n1.first"}, )" +
                asks + R"(same"}, {"do": "read", "buffer": "x", "file": "n1.x"},
                {"do": "fill", "buffer": "y", "pattern": "42"}, )" +
                asks + R"(other"}, )" + asks + R"(same again"})");
  CHECK((changes(answers) == std::vector<int>{-1, 0, -1, 1, 0}));
  CHECK_EQUAL(std::string("A"), scene.content_of("n1.first"));
  CHECK_EQUAL(std::string("B"), scene.content_of("n1.other"));
  CHECK(!scene.has("n1.same") && !scene.has("n1.same again"));
  CHECK((changes(scene.run(asks + R"(alone"})")) == std::vector<int>{1}));
  CHECK(scene.has("n1.alone"));
}

TEST("captured outputs are written to the files asked for") {
  Scene scene;
  Measurement& measurement = scene.devices.measurement;
  measurement.kind = Measurement::Kind::measured;
  measurement.timing.emplace();
  measurement.timing->captured = Captured{SamplingMode::cold, 0, {{"y", {'o', 'u', 't', '!'}}}};
  scene.run(timed("measure",
                  std::string(kLaunch) + R"(, "capture": [{"buffer": "y", "file": "y.n1.bin"}])"));
  CHECK_EQUAL(std::string("out!"), scene.content_of("y.n1.bin"));
}

TEST("nothing is written when the device captured nothing") {
  Scene scene;
  scene.run(timed("measure",
                  std::string(kLaunch) + R"(, "capture": [{"buffer": "y", "file": "y.n1.bin"}])"));
  CHECK_THROWS(Fault, scene.content_of("y.n1.bin"));
}

TEST("arms reach the device by their lowered names, and must be loaded") {
  const std::string arms = std::string("\"arms\": [{") + kLaunch + "}, {" + kLaunch + "}]";
  Scene scene;
  scene.run(timed("interleave", arms));
  check_log({"load m cubin=", "arm _k", "arm _k"}, scene.asked());
  check_invalid([&] { scene.run(R"({"do": "interleave", )" + arms + "}"); },
                "module \"m\" is not loaded");
}

TEST("a GPU gets the cubin of a module that is not compiled here") {
  Scene scene;
  scene.put("m.cubin", std::string("\0\x7f", 2));
  scene.run(R"({"do": "load", "module": "m"})", "cuda:0",
            R"(, "ptx_file": "m.ptx", "cubin_file": "m.cubin")");
  check_log({"load m cubin=" + std::string("\0\x7f", 2)}, scene.asked());
}

TEST("the file a module lacks is named") {
  const std::string load = R"({"do": "load", "module": "m"})";
  Scene scene;
  check_invalid([&] { scene.run(load, "sim", ""); }, "or a \"ptx_file\" that exists. Add");
  check_invalid([&] { scene.run(load, "cuda:0", R"(, "cubin_file": "m.ptx")"); },
                "a \"ptx_file\" that exists. Add");
  check_invalid([&] { scene.run(load, "cuda:0"); }, "a \"cubin_file\" that exists. Add");
  check_invalid(
      [&] { scene.run(load, "cuda:0", R"(, "ptx_file": "m.ptx", "cubin_file": "no.cubin")"); },
      "a \"cubin_file\" that exists, got \"no.cubin\"");
  scene.put("empty.cubin", "");
  check_invalid(
      [&] { scene.run(load, "cuda:0", R"(, "ptx_file": "m.ptx", "cubin_file": "empty.cubin")"); },
      "got an empty file");
}

TEST("a tile is read whole, handed over at creation, and no contents follow it at a reset") {
  const std::string tiled =
      R"(, {"name": "t", "bytes": 99, "access": "read", "tile_file": "t.bin"})";
  Scene scene;
  scene.put("t.bin", std::string(3 << 16, 'x'));
  scene.run(R"({"do": "reset"})", "sim", "", tiled);
  const Log& log = scene.devices.log;
  CHECK(std::count(log.begin(), log.end(), "create t tile=196608") == 1);
  CHECK(std::none_of(log.begin(), log.end(),
                     [](const std::string& line) { return line.rfind("write t", 0) == 0; }));
}

TEST("a tile that is not a multiple of 64 KiB is refused") {
  const std::string tiled =
      R"(, {"name": "t", "bytes": 99, "access": "read", "tile_file": "t.bin"})";
  Scene scene;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{65535}}) {
    scene.put("t.bin", std::string(bytes, 'x'));
    check_invalid([&] { scene.run("", "sim", "", tiled); },
                  "buffer \"t\": file \"t.bin\": expected a multiple of 65536 bytes, got " +
                      std::to_string(bytes));
  }
}

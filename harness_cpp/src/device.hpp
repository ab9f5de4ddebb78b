// What a device does, whichever it is: load modules, own buffers, launch, measure.
// Answers carry their kind (measured | modelled). Nothing here knows JSON or CUDA headers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudaopt {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

enum class Access { read, write, read_write };

struct BufferSpec {
  std::string name;
  std::uint64_t bytes = 0;
  Access access = Access::read_write;
  std::uint32_t element_bytes = 1;
  std::uint64_t offset_bytes = 0;
  std::uint64_t guard_bytes = 0;
  std::string alias;                 // empty: own memory
  std::vector<std::uint8_t> poison;  // empty: zero bytes
  // Contents that no step changes, over and over; the last piece is cut off. Empty: none.
  std::vector<std::uint8_t> tile;
};

// One kernel argument: a buffer's pointer, a null pointer, a scalar's bytes in memory order, or a
// struct passed by value.
struct Argument {
  enum class Kind { buffer, null, scalar, structure } kind = Kind::null;
  std::string buffer;
  std::string dtype;
  std::vector<std::uint8_t> bytes;  // of a struct, zeros where no member is
  std::vector<Argument> members;    // of a struct; never structs themselves
  std::uint32_t offset = 0;         // of a member within its struct
};

// A variable of a module that becomes what a buffer holds, before a launch.
struct SymbolWrite {
  std::string symbol;  // as written in C++
  std::string lowered;
  std::string buffer;
};

// What a device that sees everything (sim) looks for beside the launch itself.
struct CheckSpec {
  bool accesses = false;  // races, reads of unwritten memory, copies nobody waited for
  bool rounding = false;  // what every float would be in float64; includes `accesses`
  bool touched = false;   // counts the distinct bytes of global memory
  [[nodiscard]] bool any() const { return accesses || rounding || touched; }
};

// The order in which blocks, and the warps of a block, have their turns (sim only).
struct Order {
  enum class Kind { forward, reverse, random } kind = Kind::forward;
  std::uint64_t seed = 0;  // of random
};

struct LaunchSpec {
  std::string module;
  std::string entry;
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;  // dynamic
  std::vector<Argument> arguments;
  std::optional<Dim3> cluster;  // blocks of each cluster; absent: no clusters
  bool cooperative = false;     // every block is resident before any may wait for another
  std::vector<SymbolWrite> symbols;
  CheckSpec checks;
  Order order;
};

struct Resources {
  std::uint32_t registers = 0;
  std::uint32_t spill_store_bytes = 0, spill_load_bytes = 0;
  std::uint32_t static_shared_bytes = 0, stack_bytes = 0, constant_bytes = 0;
};

struct SourcePoint {
  std::string file;
  int line = 0;
};

// A fault of the request or the kernel, as PROTOCOL.md lists them.
enum class FaultKind {
  compile_error,
  invalid_launch,
  illegal_address,
  misaligned,
  write_to_input,
  barrier_divergence,
  absent_lane,
  race,
  uninitialized_read,
  unfinished_copy,
  no_progress,
  trap,
  timeout,
  out_of_memory,
  unsupported_instruction,
  no_nvrtc,
  no_device,
  unknown_entry,
  io_error,
  launch_error,
  invalid_request,
};
[[nodiscard]] const char* name_of(FaultKind kind);

struct Diagnostic {
  std::string file;
  int line = 0, column = 0;
  std::string severity, text;
};

struct Finding;

struct FaultDetail {
  FaultKind kind = FaultKind::launch_error;
  std::string message;
  std::optional<SourcePoint> at;          // the user's own line first
  std::vector<SourcePoint> inlined_from;  // outward from `at`
  std::string instruction;
  std::string buffer;
  std::optional<std::int64_t> element;
  std::optional<std::uint64_t> elements;
  std::optional<std::uint32_t> bytes;
  std::string access, space;
  std::optional<Dim3> block, thread;  // indices, not extents
  std::vector<Diagnostic> diagnostics;
  bool ends_process = false;  // the device cannot be used any more by this process
  std::shared_ptr<const std::vector<Finding>> findings;  // of the launch it ended, if any
  std::string printed;                                   // by that launch, before
};

class Fault : public std::runtime_error {
 public:
  explicit Fault(FaultDetail detail)
      : std::runtime_error(detail.message), m_detail(std::move(detail)) {}
  Fault(FaultKind kind, const std::string& message) : std::runtime_error(message) {
    m_detail.kind = kind;
    m_detail.message = message;
  }
  [[nodiscard]] const FaultDetail& detail() const { return m_detail; }

 private:
  FaultDetail m_detail;
};

// What compiling gave; a device loads from it (sim: ptx, cuda: cubin).
struct CompiledModule {
  std::string name, file;
  std::string ptx;
  std::vector<std::uint8_t> cubin;
  std::map<std::string, std::string> lowered;  // entry as written -> mangled name
  std::map<std::string, Resources> resources;  // by mangled name
};

enum class Pipe : std::uint8_t { fp32, fp64, integer, half, special, tensor, memory, control };
inline constexpr std::size_t kPipes = 8;
[[nodiscard]] const char* name_of(Pipe pipe);

// Summed over the blocks of one launch. Integers only: equal on every host and thread count.
struct Counters {
  std::uint64_t blocks = 0, warps = 0, threads = 0;
  std::array<std::uint64_t, kPipes> warp_instructions{};
  std::uint64_t lane_instructions = 0, divergent_branches = 0, barriers = 0;
  std::uint64_t global_load_requests = 0, global_load_sectors = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0;
  std::uint64_t shared_requests = 0, shared_wavefronts = 0, local_requests = 0;
  std::uint64_t atomic_requests = 0, atomic_serializations = 0;
  std::uint64_t max_block_instructions = 0;
  [[nodiscard]] std::uint64_t total_warp_instructions() const;
  void add(const Counters& other);  // sums; max_block_instructions takes the maximum
};

// All that is summed, but for `warp_instructions`.
inline constexpr std::uint64_t Counters::* kSummedCounters[] = {
    &Counters::blocks,
    &Counters::warps,
    &Counters::threads,
    &Counters::lane_instructions,
    &Counters::divergent_branches,
    &Counters::barriers,
    &Counters::global_load_requests,
    &Counters::global_load_sectors,
    &Counters::global_store_requests,
    &Counters::global_store_sectors,
    &Counters::shared_requests,
    &Counters::shared_wavefronts,
    &Counters::local_requests,
    &Counters::atomic_requests,
    &Counters::atomic_serializations,
};

// What the instructions of one source line count of a launch's counters.
struct LineCounters {
  SourcePoint at;
  Counters counters;
};

// The other side of a finding: whose access collides.
struct OtherParty {
  std::string access;
  std::optional<SourcePoint> at;
  std::vector<SourcePoint> inlined_from;
  std::optional<Dim3> block, thread;
};

// Something wrong that did not end the launch.
struct Finding {
  FaultDetail what;
  std::optional<OtherParty> other;
  std::uint64_t times = 1;  // at this line, on this array
};

// The instruction at which the relative error grows most, where digits are lost to cancellation.
struct RoundingLoss {
  double mean_growth = 0;  // over its executions
  double growth = 0;       // of the worst one, as all that follows; 1: no digit is left
  double value = 0, shadow = 0;
  FaultDetail where;  // source lines, instruction, block, thread
};

struct LaunchReport {
  std::optional<Counters> counters;            // sim only, as all that follows
  std::vector<Finding> findings;               // by place in the source; of launches with checks
  std::optional<std::uint64_t> touched_bytes;  // whole sectors
  std::vector<std::string> notes;              // what the checks could not look at
  std::string printed;                         // by printf
  std::optional<RoundingLoss> rounding;        // none: no more than formats lose anyway
};

// What the elements of a buffer would be in float64.
struct ShadowValues {
  enum State : std::uint8_t { none, exact, reseeded, undecided };
  std::vector<double> values;
  std::vector<std::uint8_t> states;
};

enum class SamplingMode { automatic, cold, batch };

// Bytes of some buffers, by name.
using Contents = std::map<std::string, std::vector<std::uint8_t>>;

// What a file holds. Read when it is needed: a device may have it from an earlier request.
struct FileContent {
  std::string path;  // absolute; empty: of no file, never the same again
  std::uint64_t bytes = 0;
  std::function<std::vector<std::uint8_t>()> read;  // exactly `bytes`, else throws a Fault
};
using FileContents = std::map<std::string, FileContent>;  // by buffer

struct WarmupSpec {
  int launches = 10;
  double ms = 25;
};

struct MeasureSpec {
  WarmupSpec warmup;
  int samples = 100;
  double relative_error = 0;  // 0: exactly `samples`
  int max_samples = 10000;
  SamplingMode mode = SamplingMode::automatic;
  std::vector<FileContents> contents;    // taken in turn with the buffers' own
  std::optional<FileContents> held_out;  // of exactly one timed launch
  std::vector<std::string> capture;      // buffers to read after that launch
  bool by_line = false;                  // sim only: counters of each source line too
};

struct InterleaveSpec {
  std::vector<LaunchSpec> arms;
  int blocks = 20, launches = 10;
  WarmupSpec warmup;
  SamplingMode mode = SamplingMode::automatic;
};

struct Occupancy {
  std::uint32_t blocks_per_sm = 0, warps_per_sm = 0;
  std::string limited_by;  // "warps" | "blocks" | "registers" | "shared"
};

// Times of one mode; of `batch`, per launch.
struct Sampling {
  double median_ns = 0;
  std::vector<double> samples_ns;
  int launches = 1;     // k: launches between two events
  int copies = 1;       // of the buffers a batch rotates over
  double floor_ns = 0;  // an empty kernel, measured the same way; 0: not measured
};

// The output of one timed launch.
struct Captured {
  SamplingMode mode = SamplingMode::cold;
  int sample = 0;
  Contents outputs;
};

struct Timing {
  SamplingMode mode = SamplingMode::cold;  // whose median counts
  std::optional<Sampling> cold, batch;
  std::string batch_refused;
  int warmup_launches = 0;
  double tick_ns = 0;
  std::vector<double> sm_clock_mhz;  // one per block of samples
  int contents = 1;
  std::optional<Captured> captured;
  std::vector<std::string> notes;
};

struct InterleavedTiming {
  SamplingMode mode = SamplingMode::cold;
  std::vector<Sampling> arms;        // samples block after block
  std::vector<double> sm_clock_mhz;  // one per block
};

struct Measurement {
  enum class Kind { measured, modelled } kind = Kind::modelled;
  double median_ns = 0;
  std::optional<Timing> timing;                          // measured
  std::string bound;                                     // modelled from here on
  std::vector<std::pair<std::string, double>> terms_ns;  // in the model's order
  Occupancy occupancy;
  std::uint64_t blocks_sampled = 0, blocks = 0;
  Counters counters;
  double spread = 0;
  std::optional<std::vector<LineCounters>> by_line;  // by file and line; if asked for
};

// What the driver says of a GPU. 0 where it does not say.
struct GpuFacts {
  std::string uuid;
  int driver_major = 0, driver_minor = 0;  // newest CUDA version the driver supports
  std::uint64_t memory_bytes = 0, free_bytes = 0, l2_bytes = 0;
  double sm_clock_mhz = 0, memory_clock_mhz = 0;  // the highest
  std::uint32_t memory_bus_bits = 0;
  bool guard_pages = false;
};

struct DeviceLimits {
  std::string name;
  std::uint32_t multiprocessors = 0, max_threads_per_block = 0, max_shared_bytes = 0,
                warp_size = 32;
  Dim3 max_grid, max_block;
  bool launches_clusters = true;
  std::string architecture;  // "sm_90"
  std::optional<GpuFacts> gpu;
};

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual DeviceLimits limits() const = 0;
  // Returns notes: what of the module this device cannot execute. Loading again resets module
  // globals.
  virtual std::vector<std::string> load(const CompiledModule& module) = 0;
  virtual void create_buffer(const BufferSpec& spec) = 0;
  virtual void write(const std::string& buffer, const std::vector<std::uint8_t>& bytes) = 0;
  virtual void write_file(const std::string& buffer, const FileContent& file) {
    write(buffer, file.read());
  }
  [[nodiscard]] virtual std::vector<std::uint8_t> read(const std::string& buffer) = 0;
  virtual void fill(const std::string& buffer, const std::vector<std::uint8_t>& pattern) = 0;
  // Gives guards, and buffers nobody writes afterwards, `poison`; with none, the pattern they had.
  virtual void poison(const std::string& buffer,
                      const std::optional<std::vector<std::uint8_t>>&) = 0;
  [[nodiscard]] virtual bool guards_intact(const std::string& buffer) = 0;
  // After launches with `checks.rounding`; `dtype` is that of the elements. Only sim has it.
  [[nodiscard]] virtual ShadowValues read_shadow(const std::string& buffer,
                                                 const std::string& dtype);
  virtual LaunchReport launch(const LaunchSpec& spec) = 0;
  virtual Measurement measure(const LaunchSpec& spec, const MeasureSpec& how) = 0;
  virtual InterleavedTiming interleave(const InterleaveSpec& spec) = 0;
};

}  // namespace cudaopt

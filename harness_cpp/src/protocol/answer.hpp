// An answer as PROTOCOL.md describes it, and its text: one line of JSON that holds no wall-clock
// time, address or thread number of the host.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "device.hpp"

namespace cudaopt::protocol {

struct CompileAnswer {
  std::vector<Diagnostic> diagnostics;
  std::map<std::string, Resources> resources;  // by lowered name
  std::map<std::string, std::string> lowered;
  std::string cubin_sha256;
};
struct LoadAnswer {
  bool again = false;
  std::vector<std::string> notes;
};
struct FillAnswer {};
struct CopyAnswer {};
struct WriteAnswer {};
struct ResetAnswer {};
struct LaunchAnswer {
  LaunchReport report;
};
struct ReadAnswer {
  std::uint64_t bytes = 0;
  std::optional<bool> changed;  // of a read that asks
};
struct ReadGuardsAnswer {
  bool intact = false;
};
struct ReadShadowAnswer {
  std::uint64_t elements = 0;
};
struct DigestAnswer {
  std::string sha256;
};
struct CompareDigestAnswer {
  bool equal = false;
};
struct MeasureAnswer {
  Measurement measurement;
};
struct InterleaveAnswer {
  InterleavedTiming timing;
};
struct LimitsAnswer {
  DeviceLimits limits;
};

using StepAnswer =
    std::variant<CompileAnswer, LoadAnswer, FillAnswer, CopyAnswer, WriteAnswer, ResetAnswer,
                 LaunchAnswer, ReadAnswer, ReadGuardsAnswer, ReadShadowAnswer, DigestAnswer,
                 CompareDigestAnswer, MeasureAnswer, InterleaveAnswer, LimitsAnswer>;

struct FaultAnswer {
  std::optional<std::size_t> step;  // none: before the first one
  FaultDetail detail;
};

enum class Status { ok, fault, invalid };

struct Answer {
  std::string id, nonce;
  std::string device;  // empty: none was made
  std::vector<StepAnswer> steps;
  std::optional<FaultAnswer> fault;

  // "invalid" if the request itself is at fault.
  [[nodiscard]] Status status() const;
  // Whether the process must end once this is written.
  [[nodiscard]] bool ending() const { return fault && fault->detail.ends_process; }
};

[[nodiscard]] std::string text_of(const Answer& answer);

// What `version` prints.
[[nodiscard]] std::string version_text();

}  // namespace cudaopt::protocol

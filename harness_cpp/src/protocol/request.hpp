// A request as PROTOCOL.md describes it: frozen once parsed, and every name in it declared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "device.hpp"
#include "protocol/document.hpp"

namespace cudaopt::protocol {

inline constexpr int kProtocolVersion = 1;

struct EntrySpec {
  std::string name;  // as written in C++: "softmax", "ns::attn<64, float>"
  // The C++ types each parameter may have; nullopt: not checked.
  std::optional<std::vector<std::vector<std::string>>> parameters;
};

struct MemberSpec {
  std::string name;
  std::uint64_t offset = 0;
  std::vector<std::string> types;  // C++ types it may have
};

// A struct that a kernel takes by value.
struct StructSpec {
  std::string name;  // as written in C++: "ns::Params"
  std::uint64_t bytes = 0;
  std::vector<MemberSpec> members;
};

// A variable that launches write before they start.
struct SymbolSpec {
  std::string name;                // as written in C++: "ns::taps"
  std::vector<std::string> types;  // C++ types an element may have
};

struct ModuleSpec {
  std::string name, file;
  std::optional<std::string> source, source_file;
  std::vector<std::string> options, include;
  std::map<std::string, std::string> headers;
  std::vector<EntrySpec> entries;
  std::vector<StructSpec> structs;
  std::vector<SymbolSpec> symbols;
  std::string architecture = "sm_90";
  bool line_tables = true;
  std::optional<std::string> ptx_file, cubin_file;
  std::map<std::string, std::string> lowered;  // for a module that is not compiled here
  std::map<std::string, Resources> resources;  // by lowered name
};

struct BufferEntry {
  BufferSpec spec;
  std::optional<std::string> initial_file, tile_file;
};

struct SimOptionsEntry {
  std::uint32_t threads = 0;
  std::string isa = "auto", model = "h200";
  std::uint64_t block_instructions = 0;
};

struct CompileStep {
  std::string module;
};
struct LoadStep {
  std::string module;
  bool again = false;  // written "reload"
};
struct FillStep {
  std::string buffer;
  std::vector<std::uint8_t> pattern;
};
struct CopyStep {
  std::string from, to;
};
struct WriteStep {
  std::string buffer, file;
};
struct ResetStep {
  std::optional<std::vector<std::uint8_t>> poison;  // none: the pattern each buffer had
};
struct LaunchStep {
  LaunchSpec launch;
};
struct ReadStep {
  std::string buffer, file;
  bool if_changed = false;  // since the last read of the buffer
};
struct ReadGuardsStep {
  std::string buffer;
};
struct ReadShadowStep {
  std::string buffer, dtype, values_file, states_file;
};
struct DigestStep {
  std::string buffer;
};
struct CompareDigestStep {
  std::string buffer, sha256;
};
// Contents by buffer, as files of exactly its bytes.
using ContentFiles = std::map<std::string, std::string>;
struct MeasureStep {
  LaunchSpec launch;
  MeasureSpec how;  // without contents, which the executor looks for
  std::vector<ContentFiles> contents;
  std::optional<ContentFiles> held_out;
  std::vector<ReadStep> capture;
};
struct InterleaveStep {
  InterleaveSpec spec;
};
struct LimitsStep {};

using Step = std::variant<CompileStep, LoadStep, FillStep, CopyStep, WriteStep, ResetStep,
                          LaunchStep, ReadStep, ReadGuardsStep, ReadShadowStep, DigestStep,
                          CompareDigestStep, MeasureStep, InterleaveStep, LimitsStep>;

struct Request {
  std::string id, nonce, directory, device;
  double timeout_s = 0;  // 0: none
  std::optional<std::string> nvrtc;
  SimOptionsEntry sim;
  std::vector<ModuleSpec> modules;
  std::vector<BufferEntry> buffers;
  std::vector<Step> steps;
};

// Throws a Fault of kind invalid_request that names the JSON path. `default_directory` is where
// relative file names resolve if the request does not say.
[[nodiscard]] Request parse_request(const Document& document, const std::string& default_directory);

}  // namespace cudaopt::protocol

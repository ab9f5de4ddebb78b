// A PTX module as data: what the parser produces and every later pass reads.
// Types live on instructions, never on registers: newer front ends declare every register `.b32`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cudaopt::ptx {

enum class Space { none, reg, param, global, shared, local, constant };

enum class RegisterClass : std::uint8_t { predicate, b16, b32, b64, b128 };

struct Register {
  std::string name;  // "%r12"
  RegisterClass type = RegisterClass::b32;
};

// One `.loc`; `inlined_at` indexes Module::locations (-1: not inlined) and is smaller than its own
// index, so that chains end.
struct Location {
  std::uint32_t file = 0;  // key of Module::files
  std::uint32_t line = 0, column = 0;
  std::int32_t inlined_at = -1;
};

// Operands stand in the order written. A call always has three or four: the vector of results, the
// function (symbol or reg), the vector of arguments and, for an indirect one, the symbol of its
// CallPrototype. A `brx.idx` has two: the index and the vector of its labels.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,        // index `reg`
    immediate,  // `bits`; `float_width` 32 or 64 when written 0f… / 0d…
    special,    // %tid.x, %laneid, …: `name`
    symbol,     // a variable, function or parameter: `name`, plus `offset`
    address,    // [base + offset]: elements[0] is a reg, symbol or immediate; a tensor's
                // coordinates follow
    vector,     // {a, b, c, d}
    label,      // branch target: `target` is the instruction index it names
    sink,       // _
  };
  Kind kind = Kind::immediate;
  bool negated = false;  // !%p
  std::uint8_t float_width = 0;
  std::int32_t reg = -1;
  std::int32_t target = -1;
  std::uint64_t bits = 0;  // integers sign-extended to 64 bits
  std::int64_t offset = 0;
  std::string name;  // of a reg: the part selected, "b0" in %r1.b0, else empty
  std::vector<Operand> elements;
};

struct Instruction {
  std::string_view text;                    // as written, without the ';'; points into Module::text
  std::string_view opcode;                  // "ld"
  std::vector<std::string_view> modifiers;  // {"global", "nc", "f32"}; "shared::cta" is one
  std::vector<Operand> operands;            // `d|p` becomes two operands
  bool paired = false;                      // written `d|p`: operands 0 and 1 are both results
  std::int32_t guard = -1;                  // predicate register of @p / @!p
  bool guard_negated = false;
  std::int32_t location = -1;  // into Module::locations

  [[nodiscard]] bool has(std::string_view modifier) const;
  [[nodiscard]] std::string_view type() const;      // last modifier: "f32"; "" if none
  [[nodiscard]] std::string readable_text() const;  // `text` on one line, for messages
};

struct SymbolReference {
  std::uint64_t offset = 0;  // byte in the initialiser
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;
};

struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint32_t alignment = 1;
  std::uint64_t bytes = 0;  // 0 with `external`: dynamic shared memory
  bool external = false;
  std::vector<std::uint8_t> initial;  // empty or exactly `bytes`
  std::vector<SymbolReference> references;
};

struct Parameter {
  std::string name;
  std::string type;  // "u64", "f32", "b8" (arrays: structs by value)
  std::uint32_t bytes = 0, alignment = 1;
  std::uint32_t offset = 0;  // in the parameter block
};

// What an indirect call promises about the function it reaches.
struct CallPrototype {
  std::string name;
  std::vector<Parameter> parameters, results;
};

struct Function {
  std::string name;
  bool entry = false;
  std::vector<Parameter> parameters, results;
  std::uint32_t parameter_bytes = 0;
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
  // .shared and .local declared inside, and the .param of its call sequences. A name that an inner
  // scope declares again gets "#1", "#2" ... appended here and in the operands that mean it.
  std::vector<Variable> variables;
  std::vector<CallPrototype> prototypes;
  std::uint32_t max_threads[3] = {0, 0, 0};  // .maxntid / .reqntid; 0: not given
  bool required_threads = false;
  std::uint32_t cluster[3] = {0, 0, 0};  // .reqnctapercluster; 0: not given
  bool explicit_cluster = false;
};

struct Module {
  // The PTX; string_views point here. A move keeps them valid because the parser puts the text on
  // the heap even when it is short; a copy would not.
  std::string text;
  std::string version, target;
  std::unordered_map<std::uint32_t, std::string> files;
  std::vector<Location> locations;
  std::vector<Variable> variables;
  std::vector<Function> functions;     // with a body
  std::vector<Function> declarations;  // without one in this module: vprintf, __assertfail
  std::unordered_map<std::string, std::string> aliases;

  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;

  // The function of that name or alias; nullptr if none with a body.
  [[nodiscard]] const Function* find(std::string_view name) const;
};

}  // namespace cudaopt::ptx

// Values that PTX leaves undefined, followed lane by lane from the instruction that made one to the
// first that depends on it. Much right code makes such values and throws them away: what a shuffle
// reads from a lane that takes no part, the padding of a struct that is loaded as a vector. So the
// use is what is found: a choice, an atomic, or a store to global memory, also after a way through
// arithmetic, shuffles, shared and local memory.
//
// Nothing is done until a block makes its first such value; from then on its warps run one
// instruction at a time, and `step` looks at each before it is executed.
//
// Where it is not certain that the result depends on the value, it is taken to be defined: behind
// votes, bit fields and tensor cores, in callees, and in copies of vectors some part of which is.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/block.hpp"
#include "sim/check_findings.hpp"
#include "sim/placed_operands.hpp"

namespace cudaopt::sim {

// The lanes each lane of a shuffle reads, and which of them read one that takes no part.
struct ShuffleSources {
  std::uint8_t lane[kLanes] = {};
  std::uint32_t absent = 0;
};

class UndefinedValues {
 public:
  UndefinedValues(const Block& block, CheckFindings& findings)
      : m_block(block), m_findings(findings) {}

  void begin();

  // Of a shuffle that has read its sources.
  void shuffled(Warp& warp, const Op& op, std::uint32_t mask, const ShuffleSources& sources);
  // An element of the lane's vector load was never written, others were. `offset` is in the
  // thread's local memory. Once per element, before the load.
  void loaded(Warp& warp, const Op& op, std::uint32_t lane, std::uint32_t element,
              std::uint64_t offset, std::uint32_t bytes);

  // Some value that the warp may come across is undefined.
  [[nodiscard]] bool follows(const Warp& warp) const;
  // Before `op` is executed for the lanes in `mask`, which may be none.
  void step(const Warp& warp, const Op& op, std::uint32_t mask);

 private:
  // Lanes in which a register is undefined, and by which instruction: an index in m_origins.
  struct Undefined {
    std::uint32_t lanes = 0, origin = 0;
  };
  using Registers = std::vector<Undefined>;

  [[nodiscard]] bool is_own(const Warp& warp, const Op& op) const;
  [[nodiscard]] const PlacedOperands& operands_of(const Op& op);
  [[nodiscard]] Undefined of(const Warp& warp, const ptx::Operand* operand) const;
  [[nodiscard]] Undefined any_of(const Warp& warp, const PlacedOperands& operands) const;
  [[nodiscard]] Undefined moved(const Warp& warp, const PlacedOperands& operands) const;
  [[nodiscard]] Undefined selected(const Warp& warp, const Op& op,
                                   const PlacedOperands& operands) const;
  [[nodiscard]] Undefined combined(const Warp& warp, const Op& op,
                                   const PlacedOperands& operands) const;
  [[nodiscard]] Undefined compared(const Warp& warp, const PlacedOperands& operands) const;
  [[nodiscard]] Undefined result_of(const Warp& warp, const Op& op,
                                    const PlacedOperands& operands) const;

  [[nodiscard]] Undefined& at(const Warp& warp, std::int32_t reg);
  void set(const Warp& warp, const ptx::Operand* result, Undefined value, std::uint32_t mask);
  void load(const Warp& warp, const Op& op, const PlacedOperands& operands, std::uint32_t mask);
  void store(const Warp& warp, const Op& op, const PlacedOperands& operands, std::uint32_t mask);
  void use(const Warp& warp, const Op& op, std::uint32_t origin, std::uint32_t lanes);
  [[nodiscard]] bool is_padding(const Warp& warp, const PlacedOperands& operands,
                                std::uint32_t elements, std::uint32_t origin,
                                std::uint32_t lane) const;
  void make(Warp& warp, const Op& op, std::int32_t reg, std::uint32_t lanes,
            const UndefinedOrigin& origin);

  const Block& m_block;
  CheckFindings& m_findings;
  std::vector<Registers> m_registers;  // by warp, those of the kernel's own frame
  std::unordered_map<std::uint64_t, std::uint32_t> m_memory;    // origins, by word
  std::vector<UndefinedOrigin> m_origins;                       // one per instruction
  std::unordered_map<std::int32_t, std::uint32_t> m_origin_at;  // by pc
  std::vector<std::optional<PlacedOperands>> m_operands;        // by instruction
  bool m_any = false;
};

}  // namespace cudaopt::sim

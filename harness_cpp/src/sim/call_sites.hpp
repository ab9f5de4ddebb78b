// Decodes calls: of functions of the module, through pointers, and of what the driver provides.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "ptx/module.hpp"
#include "sim/operand_slots.hpp"
#include "sim/parameter_places.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

class CallSites {
 public:
  // Of the function `caller`, an index in `program.routines` or -1.
  CallSites(Program& program, std::int32_t caller, const ParameterPlaces& places,
            OperandSlots& slots)
      : m_program(program), m_caller(caller), m_places(places), m_slots(slots) {}

  // False: this device cannot execute the call.
  [[nodiscard]] bool assign(const ptx::Instruction& call, Op& op);

 private:
  using Words = std::vector<ParameterWords>;

  [[nodiscard]] std::optional<Words> words_of(const ptx::Operand& list) const;
  [[nodiscard]] bool assign_provided(std::string_view name, CallSite&& site, Op& op);
  [[nodiscard]] bool assign_direct(const ptx::Function& function, CallSite& site) const;

  Program& m_program;
  std::int32_t m_caller;
  const ParameterPlaces& m_places;
  OperandSlots& m_slots;
};

// False: its parameters or local memory are larger than any device allows.
[[nodiscard]] bool can_be_called(const Routine& routine);

// A routine's signature; its registers are laid out later.
void set_signature(const ptx::Function& function, Routine& routine);

}  // namespace cudaopt::sim

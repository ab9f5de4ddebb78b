#include "sim/decode.hpp"

#include <algorithm>
#include <limits>

#include "sim/block_order.hpp"
#include "sim/call_graph.hpp"
#include "sim/call_sites.hpp"
#include "sim/entry_layout.hpp"
#include "sim/function_decoder.hpp"
#include "sim/polling.hpp"
#include "sim/stack_limit.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;

bool uses_alloca(const std::vector<const ptx::Function*>& functions) {
  for (const ptx::Function* function : functions) {
    for (const Instruction& instruction : function->instructions) {
      if (instruction.opcode == "alloca") return true;
    }
  }
  return false;
}

void set_locals(const EntryLayout::Locals& locals, FrameLayout& frame) {
  frame.local_variables = locals.variables;
  frame.local_bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(locals.bytes, std::numeric_limits<std::uint32_t>::max()));
}

// Before anything is decoded: calls ask for the callee's signature.
void declare_routines(const ModuleImage& image, const EntryLayout& layout,
                      const std::vector<const ptx::Function*>& callees, Program& program) {
  program.routines.resize(callees.size());
  for (std::size_t i = 0; i < callees.size(); ++i) {
    Routine& routine = program.routines[i];
    routine.function = callees[i];
    set_signature(*callees[i], routine);
    set_locals(layout.locals(*callees[i]), routine);
    if (can_be_called(routine)) routine.address = image.address_of(*callees[i]);
  }
}

void set_stack(const std::vector<const ptx::Function*>& functions, Program& program) {
  const bool has_alloca = uses_alloca(functions);
  program.stack_bytes = stack_limit(program, has_alloca);
  bool has_locals = has_alloca;
  for (const Routine& routine : program.routines) has_locals |= routine.local_bytes != 0;
  program.local_stack_bytes = program.local_bytes + (has_locals ? program.stack_bytes : 0);
}

}  // namespace

Program decode(const ModuleImage& image, const ptx::Function& function, Bind bind, Watch watch) {
  const auto callees = functions_reached(image.module(), function);
  const EntryLayout layout(image, function, callees);
  Program program;
  program.module = &image.module();
  program.function = &function;
  program.user_file = image.user_file();
  set_locals(layout.locals(function), program);
  declare_routines(image, layout, callees, program);
  FunctionDecoder(layout, function, bind, watch, program, -1).run();
  for (std::size_t i = 0; i < callees.size(); ++i) {
    FunctionDecoder(layout, *callees[i], bind, watch, program, static_cast<std::int32_t>(i)).run();
  }
  program.shared_variables = layout.shared_variables;
  program.static_shared_bytes = layout.static_shared_bytes;
  program.dynamic_shared_offset = layout.dynamic_shared_offset;
  std::vector<const ptx::Function*> functions{&function};
  functions.insert(functions.end(), callees.begin(), callees.end());
  program.ordered = depends_on_block_order(functions);
  set_stack(functions, program);
  note_polling(program);
  return program;
}

}  // namespace cudaopt::sim

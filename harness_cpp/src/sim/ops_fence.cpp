// fence and membar.
#include "sim/block_watch.hpp"
#include "sim/families.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

std::int32_t order_memory(Warp&, const Op& op, std::uint32_t) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return op.pc + 1;
}

std::int32_t watched_fence(Warp& warp, const Op& op, std::uint32_t mask) {
  warp.block->watch->fence(warp, shape_of(op.aux).order.scope);
  return order_memory(warp, op, mask);
}

}  // namespace

std::optional<Binding> bind_fence(const Form& form, const ptx::Instruction& instruction,
                                  Watch watch) {
  using M = Modifier;
  if (!instruction.operands.empty() || !form.only({M::cta, M::cluster, M::gpu, M::system, M::gl,
                                                   M::sc, M::acq_rel, M::acquire, M::release}))
    return std::nullopt;
  Binding binding;
  binding.full = binding.masked = watch == Watch::nothing ? order_memory : watched_fence;
  AccessShape shape;
  shape.order = memory_order(instruction);
  binding.aux = shape_bits(shape);
  binding.pipe = Pipe::memory;
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

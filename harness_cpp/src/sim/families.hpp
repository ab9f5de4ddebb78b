// Parts of the arithmetic families that live in files of their own; sim/ops.hpp lists the families.
#pragma once

#include <optional>

#include "sim/form.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// add.cc, addc, sub.cc, subc, mad.cc, madc: ops_carry.cpp
std::optional<Binding> bind_carry(const Form& form);
// div and rem of integers: ops_division.cpp
std::optional<Binding> bind_division(const Form& form);
// popc, clz, bfind, brev, dp4a, dp2a: ops_counts.cpp
std::optional<Binding> bind_counts(const Form& form);
// selp, slct, and, or, xor, not, mov of predicates: ops_select.cpp
std::optional<Binding> bind_selection(const Form& form);
// Sums, products, extremes and signs of f64: ops_double.cpp
std::optional<Binding> bind_double(const Form& form);
// Quotients, roots and transcendental functions of f32 and f64: ops_special.cpp
std::optional<Binding> bind_special(const Form& form);
// f32x2: ops_float_pairs.cpp
std::optional<Binding> bind_float_pairs(const Form& form);
// f32 with operands of f16 or bf16: ops_mixed_float.cpp
std::optional<Binding> bind_mixed_float(const Form& form);
// bmsk, szext, fns, lop3 with a predicate: ops_masks.cpp
std::optional<Binding> bind_masks(const Form& form);
// vadd4, vabsdiff2 and the other SIMD video instructions: ops_video.cpp
std::optional<Binding> bind_video(const Form& form);
// atom and red of .v2 and .v4: ops_atomic_vector.cpp
std::optional<Binding> bind_atomic_vector(const ptx::Function& function, const Form& form,
                                          const ptx::Instruction& instruction, Watch watch);
// shfl: ops_shuffle.cpp
std::optional<Binding> bind_shfl(const Form& form, std::size_t operands);
// redux: ops_redux.cpp
std::optional<Binding> bind_redux(const Form& form);
// fence, membar: ops_fence.cpp
std::optional<Binding> bind_fence(const Form& form, const ptx::Instruction& instruction,
                                  Watch watch);
// cvt.pack: ops_convert_pack.cpp
std::optional<Binding> bind_pack_integers(const Form& form);

}  // namespace cudaopt::sim::CUDAOPT_ISA

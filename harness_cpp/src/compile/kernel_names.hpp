// Which kernels a source has, for messages about an entry that names none of them, or several.
#pragma once

#include <string>
#include <vector>

#include "device.hpp"

namespace cudaopt::compile {

// A `__global__` function, from the look of the text.
struct KernelInText {
  std::string name;  // without its namespaces
  int line = 0;
  bool is_template = false;
};

// Declarations in comments and strings are none; one that a macro makes is not seen.
[[nodiscard]] std::vector<KernelInText> kernels_in_text(const std::string& source);

// "ns::attn<64, float>", "&ns::attn" and "static_cast<void (*)(float*)>(ns::attn)" to "attn".
[[nodiscard]] std::string plain_name_of(const std::string& entry);

// The fault of an entry that the compiler refused with `reason`. `compiled` holds the mangled names
// of the kernels that are no templates, in which overloads are told apart.
[[nodiscard]] FaultDetail unknown_entry(const std::string& module, const std::string& reason,
                                        const std::string& file, const std::string& source,
                                        const std::vector<std::string>& compiled);

// "__global__ functions found: softmax, plain(float*); templates: attn (line 7)."
[[nodiscard]] std::string kernels_found(const std::string& source,
                                        const std::vector<std::string>& compiled);

// "softmax (line 3), plain (line 9)", from the look of the text; empty if it has fewer than two.
[[nodiscard]] std::string choice_of_kernels(const std::string& source);

// "softmax, plain(float*)": for messages that list what there is.
[[nodiscard]] std::string readable_list(const std::vector<std::string>& mangled_names);

}  // namespace cudaopt::compile

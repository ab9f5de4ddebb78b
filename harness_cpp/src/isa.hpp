// Which of the two handler builds this host can run. Both give the same bits; one is faster.
#pragma once

#include <string>

namespace cudaopt {

enum class Isa { baseline, v3 };

[[nodiscard]] const char* name_of(Isa isa);  // "x86-64", "x86-64-v3"

// The best build this host can run.
[[nodiscard]] Isa host_isa();

// "auto" is the host's best. A name that is unknown, or that the host cannot run, is an
// invalid_request fault.
[[nodiscard]] Isa choose_isa(const std::string& name);

}  // namespace cudaopt

// Draws random programs, and writes them as the body of a kernel.
#pragma once

#include "random_program.hpp"

namespace random_program {

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : m_random(seed) {}

  Body program() { return block(6, 4, false); }

 private:
  Operands operands() {
    Operands o;
    o.to = static_cast<int>(m_random.below(kVariables));
    o.from = static_cast<int>(m_random.below(kVariables));
    o.constant = m_random.below(1000);
    return o;
  }

  Body block(std::uint32_t most, int depth, bool in_loop) {
    Body body;
    for (std::uint32_t i = 1 + m_random.below(most); i > 0; --i)
      body.push_back(statement(depth, in_loop));
    return body;
  }

  std::unique_ptr<Statement> statement(int depth, bool in_loop) {
    switch (m_random.below(depth > 0 ? 14 : 6)) {
      case 0:
      case 1:
        return std::make_unique<Mix>(operands());
      case 2:
        return std::make_unique<Predicated>(operands());
      case 3:
      case 4:
      case 5: {
        const bool store = m_random.below(2) == 0, shared = m_random.below(2) == 0;
        return std::make_unique<Memory>(operands(), store, shared, m_random.below(2) == 0);
      }
      case 6:
      case 7:
      case 8:
        return condition(depth, in_loop);
      case 9:
        return choice(depth, in_loop);
      case 10:
      case 11: {
        auto loop = std::make_unique<Loop>(operands(), m_random.below(2) == 0);
        loop->body = block(3, depth - 1, true);
        return loop;
      }
      default:
        return jump(in_loop);
    }
  }

  std::unique_ptr<Statement> condition(int depth, bool in_loop) {
    auto made = std::make_unique<Condition>(operands());
    made->first = block(3, depth - 1, in_loop);
    if (m_random.below(2) == 0) made->second = block(3, depth - 1, in_loop);
    return made;
  }

  std::unique_ptr<Statement> choice(int depth, bool in_loop) {
    auto made = std::make_unique<Switch>(operands());
    for (std::uint32_t i = 2 + m_random.below(5); i > 0; --i) {
      made->cases.push_back(block(2, depth - 2, in_loop));
      made->falls_through.push_back(m_random.below(3) == 0);
    }
    return made;
  }

  // Always under a condition, so that some lanes go on.
  std::unique_ptr<Statement> jump(bool in_loop) {
    auto made = std::make_unique<Condition>(operands());
    made->first.push_back(std::make_unique<Mix>(operands()));
    const std::uint32_t where = in_loop ? m_random.below(3) : 0;
    made->first.push_back(std::make_unique<Jump>(where == 0   ? Outcome::leave_kernel
                                                 : where == 1 ? Outcome::leave_loop
                                                              : Outcome::next_iteration));
    return made;
  }

  Random m_random;
};

// The kernel has two arrays: results, a word per thread, and kSlots words per thread. `threads` is
// the size of a block. At the end a thread's variables, and what it left in shared memory, become
// its result.
inline std::string kernel_body(const Body& program, std::uint32_t threads) {
  Text text;
  text.line(".shared .align 4 .b8 slots[" + std::to_string(threads * kSlots * 4) + "]");
  text.line("mov.u32 %r31, slots");
  text.line("mad.lo.u32 %r30, %t, " + std::to_string(kSlots * 4) + ", %r31");
  for (int i = 0; i < kSlots; ++i)
    text.line("st.shared.u32 [%r30+" + std::to_string(4 * i) + "], " + std::to_string(i));
  text.line("mad.lo.u32 %t, %b, " + std::to_string(threads) + ", %t");
  text.line("mad.wide.u32 %rd10, %t, " + std::to_string(kSlots * 4) + ", %x1");
  for (int i = 0; i < kVariables; ++i)
    text.line("mad.lo.u32 " + variable(i) + ", %t, " + std::to_string(7 * i + 3) + ", " +
              std::to_string(i));
  write(program, text);
  text.place("RESULT");
  for (int i = 1; i < kVariables; ++i) text.line("mad.lo.u32 %r0, %r0, 31, " + variable(i));
  for (int i = 0; i < kSlots; ++i) {
    text.line("ld.shared.u32 %r9, [%r30+" + std::to_string(4 * i) + "]");
    text.line("mad.lo.u32 %r0, %r0, 31, %r9");
  }
  return ".reg .b32 %c<" + std::to_string(2 * text.loops + 1) + ">;\n" + text.ptx;
}

// The same, of one thread alone; its slots of global memory are left in `state`.
inline std::uint32_t result_alone(const Body& program, std::uint32_t thread, State& state) {
  for (std::uint32_t i = 0; i < kVariables; ++i) state.values[i] = thread * (7 * i + 3) + i;
  for (std::uint32_t i = 0; i < kSlots; ++i) state.shared[i] = i;
  (void)run(program, state);
  std::uint32_t result = state.values[0];
  for (int i = 1; i < kVariables; ++i) result = result * 31 + state.values[i];
  for (const std::uint32_t slot : state.shared) result = result * 31 + slot;
  return result;
}

}  // namespace random_program

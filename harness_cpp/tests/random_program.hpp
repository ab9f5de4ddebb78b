// Random structured programs of one thread: loops with breaks and continues, early returns, nested
// conditions, switches whose cases fall through, predicated instructions, and memory of the
// thread's own. Every statement says both how it is written in PTX and what it does.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace random_program {

inline constexpr int kVariables = 4, kSlots = 4;

// xorshift: the same programs everywhere.
class Random {
 public:
  explicit Random(std::uint32_t seed) : m_state(seed * 2654435761u + 1) {}
  std::uint32_t below(std::uint32_t bound) {
    m_state ^= m_state << 13;
    m_state ^= m_state >> 17;
    m_state ^= m_state << 5;
    return m_state % bound;
  }

 private:
  std::uint32_t m_state;
};

// PTX as it grows. Variables are %r0 to %r3; %r8, %r9, %rd8 and %p1 to %p3 serve one statement;
// %rd10 and %r30 are the thread's slots in global and in shared memory, %c loop counters.
struct Text {
  std::string ptx;
  int labels = 0, loops = 0;
  std::string break_to, continue_to;

  void line(const std::string& instruction) { ptx += instruction + ";\n"; }
  std::string label() { return "L" + std::to_string(labels++); }
  void place(const std::string& label) { ptx += label + ":\n"; }
};

struct State {
  std::array<std::uint32_t, kVariables> values{};
  std::array<std::uint32_t, kSlots> global{}, shared{};
};

enum class Outcome { next, leave_loop, next_iteration, leave_kernel };

struct Statement {
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  virtual ~Statement() = default;
  virtual void write(Text& text) const = 0;
  virtual Outcome run(State& state) const = 0;
};

using Body = std::vector<std::unique_ptr<Statement>>;

inline std::string variable(int index) { return "%r" + std::to_string(index); }

inline void write(const Body& body, Text& text) {
  for (const auto& statement : body) statement->write(text);
}

inline Outcome run(const Body& body, State& state) {
  for (const auto& statement : body) {
    const Outcome outcome = statement->run(state);
    if (outcome != Outcome::next) return outcome;
  }
  return Outcome::next;
}

// What the statements below are made of.
struct Operands {
  int to = 0, from = 0;
  std::uint32_t constant = 0;
};

struct Mix final : Statement {
  Operands o;
  explicit Mix(const Operands& operands) : o(operands) {}
  void write(Text& text) const override {
    text.line("mad.lo.u32 " + variable(o.to) + ", " + variable(o.from) + ", 5, " + variable(o.to));
    text.line("xor.b32 " + variable(o.to) + ", " + variable(o.to) + ", " +
              std::to_string(o.constant));
  }
  Outcome run(State& s) const override {
    s.values[o.to] = (s.values[o.from] * 5 + s.values[o.to]) ^ o.constant;
    return Outcome::next;
  }
};

// %p1 = (from & mask) != 0
inline std::uint32_t question_mask(const Operands& o) { return o.constant % 7 + 1; }
inline void write_question(const Operands& o, Text& text) {
  text.line("and.b32 %r8, " + variable(o.from) + ", " + std::to_string(question_mask(o)));
  text.line("setp.ne.u32 %p1, %r8, 0");
}
inline bool holds(const Operands& o, const State& s) {
  return (s.values[o.from] & question_mask(o)) != 0;
}

struct Predicated final : Statement {
  Operands o;
  explicit Predicated(const Operands& operands) : o(operands) {}
  void write(Text& text) const override {
    write_question(o, text);
    text.line("@%p1 add.u32 " + variable(o.to) + ", " + variable(o.to) + ", 77");
    text.line("@!%p1 mul.lo.u32 " + variable(o.to) + ", " + variable(o.to) + ", 9");
  }
  Outcome run(State& s) const override {
    s.values[o.to] = holds(o, s) ? s.values[o.to] + 77 : s.values[o.to] * 9;
    return Outcome::next;
  }
};

// A store to, or a load from, the slot a variable chooses; half of them under a predicate.
struct Memory final : Statement {
  Operands o;
  bool store, shared, predicated;
  Memory(const Operands& operands, bool is_store, bool is_shared, bool is_predicated)
      : o(operands), store(is_store), shared(is_shared), predicated(is_predicated) {}

  void write(Text& text) const override {
    write_question(o, text);
    text.line("and.b32 %r9, " + variable(o.from) + ", " + std::to_string(kSlots - 1));
    text.line("shl.b32 %r9, %r9, 2");
    if (shared) {
      text.line("add.u32 %r9, %r9, %r30");
    } else {
      text.line("cvt.u64.u32 %rd8, %r9");
      text.line("add.s64 %rd8, %rd8, %rd10");
    }
    const std::string address = shared ? "[%r9]" : "[%rd8]", space = shared ? "shared" : "global";
    const std::string guard = predicated ? "@%p1 " : "";
    text.line(guard + (store ? "st." + space + ".u32 " + address + ", " + variable(o.to)
                             : "ld." + space + ".u32 " + variable(o.to) + ", " + address));
  }
  Outcome run(State& s) const override {
    if (predicated && !holds(o, s)) return Outcome::next;
    std::uint32_t& slot = (shared ? s.shared : s.global)[s.values[o.from] & (kSlots - 1)];
    (store ? slot : s.values[o.to]) = store ? s.values[o.to] : slot;
    return Outcome::next;
  }
};

struct Condition final : Statement {
  Operands o;
  Body first, second;
  explicit Condition(const Operands& operands) : o(operands) {}
  void write(Text& text) const override {
    const std::string otherwise = text.label(), end = text.label();
    write_question(o, text);
    text.line("@!%p1 bra " + otherwise);
    random_program::write(first, text);
    text.line("bra " + end);
    text.place(otherwise);
    random_program::write(second, text);
    text.place(end);
  }
  Outcome run(State& s) const override {
    return random_program::run(holds(o, s) ? first : second, s);
  }
};

// A chain of comparisons as compilers write a switch; some cases run on into the next.
struct Switch final : Statement {
  Operands o;
  std::vector<Body> cases;
  std::vector<bool> falls_through;
  explicit Switch(const Operands& operands) : o(operands) {}
  void write(Text& text) const override {
    const std::string end = text.label();
    std::vector<std::string> labels;
    text.line("and.b32 %r8, " + variable(o.from) + ", 7");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      labels.push_back(text.label());
      text.line("setp.eq.u32 %p2, %r8, " + std::to_string(i));
      text.line("@%p2 bra " + labels.back());
    }
    text.line("bra.uni " + end);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      text.place(labels[i]);
      random_program::write(cases[i], text);
      if (!falls_through[i]) text.line("bra " + end);
    }
    text.place(end);
  }
  Outcome run(State& s) const override {
    for (std::size_t i = s.values[o.from] & 7; i < cases.size(); ++i) {
      const Outcome outcome = random_program::run(cases[i], s);
      if (outcome != Outcome::next || !falls_through[i]) return outcome;
    }
    return Outcome::next;
  }
};

// Up to three rounds; the test stands before or behind the body.
struct Loop final : Statement {
  Operands o;
  Body body;
  bool tests_first;
  Loop(const Operands& operands, bool test_first) : o(operands), tests_first(test_first) {}
  void write(Text& text) const override {
    const std::string counter = "%c" + std::to_string(text.loops * 2);
    const std::string bound = "%c" + std::to_string(text.loops * 2 + 1);
    ++text.loops;
    const std::string head = text.label(), next = text.label(), end = text.label();
    text.line("mov.u32 " + counter + ", 0");
    text.line("and.b32 " + bound + ", " + variable(o.from) + ", 3");
    text.place(head);
    if (tests_first) write_test(text, counter, bound, "@%p3 bra " + end);
    const std::string outer_break = text.break_to, outer_continue = text.continue_to;
    text.break_to = end;
    text.continue_to = next;
    random_program::write(body, text);
    text.break_to = outer_break;
    text.continue_to = outer_continue;
    text.place(next);
    text.line("add.u32 " + counter + ", " + counter + ", 1");
    if (!tests_first) write_test(text, counter, bound, "@%p3 bra " + end);
    text.line("bra " + head);
    text.place(end);
  }
  Outcome run(State& s) const override {
    const std::uint32_t bound = s.values[o.from] & 3;
    for (std::uint32_t i = 0; !tests_first || i < bound;) {
      const Outcome outcome = random_program::run(body, s);
      if (outcome == Outcome::leave_kernel) return outcome;
      if (outcome == Outcome::leave_loop) break;
      if (++i >= bound && !tests_first) break;
    }
    return Outcome::next;
  }

 private:
  static void write_test(Text& text, const std::string& counter, const std::string& bound,
                         const std::string& leave) {
    text.line("setp.ge.u32 %p3, " + counter + ", " + bound);
    text.line(leave);
  }
};

struct Jump final : Statement {
  Outcome outcome;
  explicit Jump(Outcome where) : outcome(where) {}
  void write(Text& text) const override {
    if (outcome == Outcome::leave_kernel) return text.line("bra RESULT");
    text.line("bra " + (outcome == Outcome::leave_loop ? text.break_to : text.continue_to));
  }
  Outcome run(State&) const override { return outcome; }
};

}  // namespace random_program

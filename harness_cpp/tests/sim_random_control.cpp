// Random structured programs with divergent branches, loops, breaks and returns: the warp executor
// against an interpreter that runs one thread at a time.
#include <memory>

#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

constexpr int kVariables = 4;

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

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Statement {
  enum class Kind {
    mix,
    condition,
    loop,
    leave_loop,
    leave_kernel,
    vanish,
    barrier
  } kind = Kind::mix;
  int to = 0, from = 0;
  std::uint32_t constant = 0;
  Body first, second;  // then and else; a loop's body
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : m_random(seed) {}

  Body program() {
    Body body;
    for (int i = 0; i < 5; ++i) {
      append(body, 3, false);
      if (m_random.below(2) == 0) add(body, Statement::Kind::barrier);
    }
    return body;
  }

 private:
  Statement& add(Body& body, Statement::Kind kind) {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->to = static_cast<int>(m_random.below(kVariables));
    statement->from = static_cast<int>(m_random.below(kVariables));
    statement->constant = m_random.below(1000);
    body.push_back(std::move(statement));
    return *body.back();
  }

  Body block(int depth, bool in_loop) {
    Body body;
    const std::uint32_t count = 1 + m_random.below(3);
    for (std::uint32_t i = 0; i < count; ++i) append(body, depth, in_loop);
    return body;
  }

  void append(Body& body, int depth, bool in_loop) {
    const std::uint32_t choice = m_random.below(depth > 0 ? 13 : 4);
    if (choice < 4) {
      add(body, Statement::Kind::mix);
    } else if (choice < 8) {
      Statement& statement = add(body, Statement::Kind::condition);
      statement.first = block(depth - 1, in_loop);
      if (m_random.below(2) == 0) statement.second = block(depth - 1, in_loop);
    } else if (choice < 10) {
      add(body, Statement::Kind::loop).first = block(depth - 1, true);
    } else if (choice == 12) {
      add(body, Statement::Kind::vanish);
    } else {
      Statement& statement = add(body, Statement::Kind::condition);
      const bool leaves_loop = in_loop && choice == 10;
      add(statement.first, Statement::Kind::mix);
      add(statement.first,
          leaves_loop ? Statement::Kind::leave_loop : Statement::Kind::leave_kernel);
    }
  }

  Random m_random;
};

// Writes the program as PTX; variables are %r0 to %r3, loop counters %r10 and up.
class Writer {
 public:
  std::string write(const Body& program) {
    for (int i = 0; i < kVariables; ++i) {
      line("mad.lo.u32 %r" + std::to_string(i) + ", %t, " + std::to_string(7 * i + 3) + ", " +
           std::to_string(i));
    }
    write_body(program, "");
    write_result();
    return m_text;
  }

 private:
  void write_result() {
    line("add.u32 %r0, %r0, %r1");
    line("xor.b32 %r0, %r0, %r2");
    line("add.u32 %r0, %r0, %r3");
    m_text += store_word("%r0");
  }

  void line(const std::string& text) { m_text += text + ";\n"; }
  std::string label() { return "L" + std::to_string(m_labels++); }
  static std::string variable(int index) { return "%r" + std::to_string(index); }

  void write_body(const Body& body, const std::string& loop_end) {
    for (const auto& statement : body) write_statement(*statement, loop_end);
  }

  void write_statement(const Statement& s, const std::string& loop_end) {
    switch (s.kind) {
      case Statement::Kind::mix:
        line("mad.lo.u32 " + variable(s.to) + ", " + variable(s.from) + ", 5, " + variable(s.to));
        line("xor.b32 " + variable(s.to) + ", " + variable(s.to) + ", " +
             std::to_string(s.constant));
        break;
      case Statement::Kind::condition:
        write_condition(s, loop_end);
        break;
      case Statement::Kind::loop:
        write_loop(s);
        break;
      case Statement::Kind::leave_loop:
        line("bra " + loop_end);
        break;
      case Statement::Kind::leave_kernel:
        // Not a jump to a common end: lanes that meet there would have skipped the barriers
        // between.
        write_result();
        line("ret");
        break;
      case Statement::Kind::vanish:
        line("and.b32 %r8, " + variable(s.from) + ", 15");
        line("setp.eq.u32 %p1, %r8, " + std::to_string(s.constant % 16));
        line("@%p1 ret");
        break;
      case Statement::Kind::barrier:
        line("bar.sync 0");
        break;
    }
  }

  void write_condition(const Statement& s, const std::string& loop_end) {
    const std::string otherwise = label(), end = label();
    line("and.b32 %r8, " + variable(s.from) + ", " + std::to_string(s.constant % 7 + 1));
    line("setp.eq.u32 %p1, %r8, 0");
    line("@%p1 bra " + otherwise);
    write_body(s.first, loop_end);
    line("bra " + end);
    m_text += otherwise + ":\n";
    write_body(s.second, loop_end);
    m_text += end + ":\n";
  }

  void write_loop(const Statement& s) {
    const std::string counter = "%r" + std::to_string(10 + m_loops * 2);
    const std::string bound = "%r" + std::to_string(11 + m_loops * 2);
    ++m_loops;
    const std::string head = label(), end = label();
    line("mov.u32 " + counter + ", 0");
    line("and.b32 " + bound + ", " + variable(s.from) + ", 3");
    m_text += head + ":\n";
    line("setp.ge.u32 %p1, " + counter + ", " + bound);
    line("@%p1 bra " + end);
    line("add.u32 " + counter + ", " + counter + ", 1");
    write_body(s.first, end);
    line("bra " + head);
    m_text += end + ":\n";
  }

  std::string m_text;
  int m_labels = 0, m_loops = 0;
};

// One thread of the same program.
class Thread {
 public:
  explicit Thread(std::uint32_t index) {
    for (std::uint32_t i = 0; i < kVariables; ++i) m_values[i] = index * (7 * i + 3) + i;
  }

  std::uint32_t run(const Body& program) {
    if (run_body(program) == Outcome::vanish) return 0;
    return ((m_values[0] + m_values[1]) ^ m_values[2]) + m_values[3];
  }

 private:
  enum class Outcome { next, leave_loop, leave_kernel, vanish };

  Outcome run_body(const Body& body) {
    for (const auto& statement : body) {
      const Outcome outcome = run_statement(*statement);
      if (outcome != Outcome::next) return outcome;
    }
    return Outcome::next;
  }

  Outcome run_statement(const Statement& s) {
    switch (s.kind) {
      case Statement::Kind::mix:
        m_values[s.to] = (m_values[s.from] * 5 + m_values[s.to]) ^ s.constant;
        return Outcome::next;
      case Statement::Kind::condition:
        return run_body((m_values[s.from] & (s.constant % 7 + 1)) != 0 ? s.first : s.second);
      case Statement::Kind::loop:
        return run_loop(s);
      case Statement::Kind::leave_loop:
        return Outcome::leave_loop;
      case Statement::Kind::leave_kernel:
        return Outcome::leave_kernel;
      case Statement::Kind::vanish:
        return (m_values[s.from] & 15) == s.constant % 16 ? Outcome::vanish : Outcome::next;
      case Statement::Kind::barrier:
        break;
    }
    return Outcome::next;
  }

  Outcome run_loop(const Statement& s) {
    const std::uint32_t bound = m_values[s.from] & 3;
    for (std::uint32_t i = 0; i < bound; ++i) {
      const Outcome outcome = run_body(s.first);
      if (outcome == Outcome::leave_kernel || outcome == Outcome::vanish) return outcome;
      if (outcome == Outcome::leave_loop) break;
    }
    return Outcome::next;
  }

  std::uint32_t m_values[kVariables];
};

}  // namespace

namespace {

constexpr std::uint32_t kThreads = 75;

void check_program(std::uint32_t seed, const std::vector<Order>& orders) {
  const Body program = Generator(seed).program();
  Words expected;
  for (std::uint32_t t = 0; t < kThreads; ++t) expected.push_back(Thread(t).run(program));
  Kernel kernel(1, Writer().write(program));
  kernel.buffer("y", Words(kThreads));
  for (const Order& order : orders) {
    kernel.device().fill("y", {0, 0, 0, 0});
    LaunchSpec spec = kernel.spec(kThreads, 1);
    spec.order = order;
    (void)kernel.device().launch(spec);
    CHECK_WORDS(expected, kernel.read("y"));
  }
}

}  // namespace

TEST("every thread of a random program ends as it would alone") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) check_program(seed, {Order{}});
}

// In random order the lanes that parted at a branch take turns after any number of instructions,
// and those that wait for others where they meet may go on without them.
TEST("turns at any time change nothing of what a random program computes") {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    std::vector<Order> orders{{Order::Kind::reverse, 0}};
    for (std::uint64_t i = 0; i < 8; ++i) orders.push_back({Order::Kind::random, i});
    check_program(seed, orders);
  }
}

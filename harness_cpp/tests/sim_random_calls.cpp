// Random programs of functions that call each other, directly and through pointers, from branches
// and loops, against the same programs run one thread at a time.
#include <memory>
#include <random>

#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

constexpr std::uint32_t kVariables = 3, kFunctions = 4, kFuel = 3;

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Statement {
  enum class Kind { mix, condition, loop, call, call_either, leave };
  Kind kind = Kind::mix;
  std::uint32_t to = 0, from = 0, constant = 0, callee = 0, other = 0;
  Body first, second;
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : m_random(seed) {}

  std::vector<Body> program() {
    std::vector<Body> functions;
    for (std::uint32_t i = 0; i < kFunctions; ++i) {
      m_calls = 0;
      functions.push_back(body(0));
    }
    return functions;
  }

 private:
  std::uint32_t draw(std::uint32_t below) { return m_random() % below; }

  Body body(int depth) {
    Body statements;
    const std::uint32_t count = 1 + draw(4);
    for (std::uint32_t i = 0; i < count; ++i) statements.push_back(statement(depth));
    return statements;
  }

  std::unique_ptr<Statement> statement(int depth) {
    auto s = std::make_unique<Statement>();
    s->to = draw(kVariables);
    s->from = draw(kVariables);
    s->constant = draw(1000);
    s->callee = draw(kFunctions);
    s->other = draw(kFunctions);
    const std::uint32_t choice = draw(10);
    if (choice < 3 && m_calls < 2) {
      ++m_calls;
      s->kind = draw(3) == 0 ? Statement::Kind::call_either : Statement::Kind::call;
    } else if (choice < 6 && depth < 3) {
      s->kind = Statement::Kind::condition;
      s->first = body(depth + 1);
      s->second = body(depth + 1);
    } else if (choice < 7 && depth < 2) {
      s->kind = Statement::Kind::loop;
      s->first = body(depth + 1);
    } else if (choice < 8 && depth > 0) {
      s->kind = Statement::Kind::leave;
    }
    return s;
  }

  std::mt19937 m_random;
  int m_calls = 0;
};

// Function i as PTX: (a, b, fuel) gives the first variable.
class Writer {
 public:
  explicit Writer(std::uint32_t index) : m_prefix("F" + std::to_string(index) + "_") {}

  static std::string signature(std::uint32_t index) {
    return ".func (.param .b32 out) f" + std::to_string(index) +
           "(.param .b32 a, .param .b32 b, .param .b32 fuel)\n";
  }

  std::string write(std::uint32_t index, const Body& body) {
    m_text = signature(index) +
             "{\n.reg .b32 %v<4>;\n.reg .b32 %r<60>;\n.reg .b64 %rd<9>;\n.reg .pred %p<9>;\n"
             "p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b32 _);\n";
    line("ld.param.b32 %v0, [a]");
    line("ld.param.b32 %v1, [b]");
    line("ld.param.b32 %r1, [fuel]");
    line("xor.b32 %v2, %v0, %v1");
    write_body(body);
    m_text += m_prefix + "OUT:\n";
    line("st.param.b32 [out], %v0");
    return m_text + "ret;\n}\n";
  }

 private:
  void line(const std::string& text) { m_text += text + ";\n"; }
  std::string label() { return m_prefix + "L" + std::to_string(m_labels++); }
  static std::string variable(std::uint32_t index) { return "%v" + std::to_string(index); }

  void write_body(const Body& body) {
    for (const auto& statement : body) write_statement(*statement);
  }

  void write_statement(const Statement& s) {
    const std::string to = variable(s.to), from = variable(s.from);
    switch (s.kind) {
      case Statement::Kind::mix:
        line("mad.lo.u32 " + to + ", " + from + ", 5, " + to);
        line("xor.b32 " + to + ", " + to + ", " + std::to_string(s.constant));
        break;
      case Statement::Kind::condition:
        write_condition(s);
        break;
      case Statement::Kind::loop:
        write_loop(s);
        break;
      case Statement::Kind::leave:
        line("mov.b32 %v0, " + from);
        line("bra " + m_prefix + "OUT");
        break;
      default:
        write_call(s);
    }
  }

  void write_condition(const Statement& s) {
    const std::string otherwise = label(), end = label();
    line("and.b32 %r2, " + variable(s.from) + ", " + std::to_string(s.constant % 7 + 1));
    line("setp.eq.u32 %p1, %r2, 0");
    line("@%p1 bra " + otherwise);
    write_body(s.first);
    line("bra " + end);
    m_text += otherwise + ":\n";
    write_body(s.second);
    m_text += end + ":\n";
  }

  void write_loop(const Statement& s) {
    const std::string counter = "%r" + std::to_string(10 + m_loops * 2);
    const std::string bound = "%r" + std::to_string(11 + m_loops * 2);
    ++m_loops;
    const std::string head = label(), end = label();
    line("mov.u32 " + counter + ", 0");
    line("and.b32 " + bound + ", " + variable(s.from) + ", 1");
    line("add.u32 " + bound + ", " + bound + ", " + std::to_string(s.constant % 2));
    m_text += head + ":\n";
    line("setp.ge.u32 %p1, " + counter + ", " + bound);
    line("@%p1 bra " + end);
    line("add.u32 " + counter + ", " + counter + ", 1");
    write_body(s.first);
    line("bra " + head);
    m_text += end + ":\n";
  }

  void write_call(const Statement& s) {
    const std::string end = label();
    const std::string callee = "f" + std::to_string(s.callee);
    line("setp.eq.u32 %p1, %r1, 0");
    line("@%p1 bra " + end);
    line("sub.u32 %r3, %r1, 1");
    if (s.kind == Statement::Kind::call_either) {
      line("mov.u64 %rd1, " + callee);
      line("mov.u64 %rd2, f" + std::to_string(s.other));
      line("and.b32 %r4, " + variable(s.from) + ", 2");
      line("setp.eq.u32 %p2, %r4, 0");
      line("selp.b64 %rd3, %rd1, %rd2, %p2");
    }
    m_text += "{\n.param .b32 p0;\n.param .b32 p1;\n.param .b32 p2;\n.param .b32 back;\n";
    line("st.param.b32 [p0], " + variable(s.from));
    line("st.param.b32 [p1], " + variable(s.to));
    line("st.param.b32 [p2], %r3");
    const bool direct = s.kind == Statement::Kind::call;
    line("call (back), " + (direct ? callee : "%rd3") + ", (p0, p1, p2)" + (direct ? "" : ", p"));
    line("ld.param.b32 " + variable(s.to) + ", [back]");
    m_text += "}\n" + end + ":\n";
  }

  std::string m_prefix, m_text;
  int m_labels = 0, m_loops = 0;
};

// One thread of the same program.
class Thread {
 public:
  explicit Thread(const std::vector<Body>& program) : m_program(program) {}

  std::uint32_t call(std::uint32_t function, std::uint32_t a, std::uint32_t b, std::uint32_t fuel) {
    Frame frame{{a, b, a ^ b}, fuel};
    static_cast<void>(run(m_program[function], frame));
    return frame.values[0];
  }

 private:
  struct Frame {
    std::uint32_t values[kVariables];
    std::uint32_t fuel;
  };

  // False: the function returns.
  bool run(const Body& body, Frame& frame) {
    for (const auto& statement : body) {
      if (!run(*statement, frame)) return false;
    }
    return true;
  }

  bool run(const Statement& s, Frame& frame) {
    std::uint32_t& to = frame.values[s.to];
    const std::uint32_t from = frame.values[s.from];
    switch (s.kind) {
      case Statement::Kind::mix:
        to = (from * 5 + to) ^ s.constant;
        return true;
      case Statement::Kind::condition:
        return run((from & (s.constant % 7 + 1)) != 0 ? s.first : s.second, frame);
      case Statement::Kind::loop:
        for (std::uint32_t i = 0, bound = (from & 1) + s.constant % 2; i < bound; ++i) {
          if (!run(s.first, frame)) return false;
        }
        return true;
      case Statement::Kind::leave:
        frame.values[0] = from;
        return false;
      case Statement::Kind::call:
        if (frame.fuel != 0) to = call(s.callee, from, to, frame.fuel - 1);
        return true;
      case Statement::Kind::call_either:
        if (frame.fuel != 0) {
          to = call((from & 2) == 0 ? s.callee : s.other, from, to, frame.fuel - 1);
        }
        return true;
    }
    return true;
  }

  const std::vector<Body>& m_program;
};

const std::string kStart =
    "{\n.param .b32 p0;\n.param .b32 p1;\n.param .b32 p2;\n.param .b32 back;\nst.param.b32 [p0], "
    "%t;\nmul.lo.u32 %r1, %t, 7;\nst.param.b32 [p1], %r1;\nst.param.b32 [p2], 3;\n"
    "call (back), f0, (p0, p1, p2);\nld.param.b32 %r2, [back];\n}\n";

}  // namespace

TEST("every thread of random functions that call each other returns what it would alone") {
  static_assert(kFuel == 3, "kStart says so");
  constexpr std::uint32_t kThreads = 45;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const std::vector<Body> program = Generator(seed).program();
    std::string functions;
    for (std::uint32_t i = 0; i < kFunctions; ++i) functions += Writer::signature(i) + ";\n";
    for (std::uint32_t i = 0; i < kFunctions; ++i) functions += Writer(i).write(i, program[i]);
    Kernel kernel(1, kStart + store_word("%r2"), functions);
    kernel.buffer("y", Words(kThreads));
    kernel.run(kThreads);
    Words expected;
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      expected.push_back(Thread(program).call(0, t, t * 7, kFuel));
    }
    CHECK_WORDS(expected, kernel.read("y"));
  }
}

// An answer that grows, as a second thread would see it.
#include "check.hpp"
#include "steps/progress.hpp"

using namespace cudaopt;
using cudaopt::steps::Progress;

TEST("a fault is placed at the step that had begun, after the steps that finished") {
  Progress progress;
  CHECK(!progress.with_fault({}).fault->step);
  progress.begin_step(0);
  progress.finish_step(protocol::FillAnswer{});
  progress.begin_step(1);
  const protocol::Answer answer = progress.with_fault({});
  CHECK_EQUAL(1u, answer.fault->step.value());
  CHECK_EQUAL(1u, answer.steps.size());
  CHECK(!progress.answer().fault);
}

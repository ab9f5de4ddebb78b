// Streams, events and graphs, with the names libcuda exports.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "gpu.hpp"
#include "queue.hpp"
#include "settings.hpp"

using namespace made_up;

namespace {

constexpr unsigned kNonBlocking = 1, kDisableTiming = 2;

template <class Handle>
Result drop(Handle* handle) {
  MADE_UP_READY();
  if (handle == nullptr) return kInvalidHandle;
  if (const Result result = drain_all(); result != kSuccess) return result;
  delete handle;
  --open_handles();
  return kSuccess;
}

}  // namespace

extern "C" {

Result cuStreamCreate(Stream** stream, unsigned flags) {
  MADE_UP_READY();
  *stream = make_stream((flags & kNonBlocking) == 0);
  ++open_handles();
  return kSuccess;
}

Result cuStreamDestroy_v2(Stream* stream) {
  MADE_UP_READY();
  if (const Result result = drain(*stream); result != kSuccess) return result;
  destroy(stream);
  --open_handles();
  return kSuccess;
}

Result cuStreamSynchronize(Stream* stream) {
  MADE_UP_READY();
  if (stream == nullptr) return drain_for_null_stream();
  return stream->capture ? Result{kCaptureUnsupported} : drain(*stream);
}

Result cuStreamBeginCapture_v2(Stream* stream, int) {
  MADE_UP_READY();
  if (stream == nullptr || stream->capture) return kCaptureUnsupported;
  stream->capture = std::make_unique<Graph>();
  capturing() = true;
  return kSuccess;
}

Result cuStreamEndCapture(Stream* stream, Graph** graph) {
  MADE_UP_READY();
  if (!stream->capture) return kInvalidValue;
  *graph = stream->capture.release();
  capturing() = false;
  ++open_handles();
  return kSuccess;
}

Result cuGraphInstantiateWithFlags(std::vector<Work>** executable, Graph* graph,
                                   unsigned long long) {
  MADE_UP_READY();
  *executable = new std::vector<Work>(graph->work);
  ++open_handles();
  return kSuccess;
}

Result cuGraphUpload(std::vector<Work>*, Stream*) {
  MADE_UP_READY();
  return kSuccess;
}

// One entry of the queue, however many launches it holds.
Result cuGraphLaunch(std::vector<Work>* executable, Stream* stream) {
  MADE_UP_READY();
  return enqueue(stream, [executable] {
    log("graph of " + std::to_string(executable->size()));
    for (const Work& work : *executable)
      if (const Result result = work(); result != kSuccess) return result;
    return Result{kSuccess};
  });
}

Result cuGraphExecDestroy(std::vector<Work>* executable) { return drop(executable); }

Result cuGraphDestroy(Graph* graph) {
  MADE_UP_READY();
  delete graph;
  --open_handles();
  return kSuccess;
}

Result cuEventCreate(Event** event, unsigned flags) {
  MADE_UP_READY();
  if ((flags & kDisableTiming) != 0) return kInvalidValue;
  *event = new Event;
  ++open_handles();
  return kSuccess;
}

Result cuEventDestroy_v2(Event* event) { return drop(event); }

Result cuEventRecord(Event* event, Stream* stream) {
  MADE_UP_READY();
  event->done = false;
  return enqueue(stream, [event] {
    log("event");
    event->done = true;
    event->at_ns = gpu_clock().globaltimer_ns();
    return Result{kSuccess};
  });
}

Result cuEventSynchronize(Event* event) {
  MADE_UP_READY();
  const Result result = drain_all();
  return result != kSuccess || event->done ? result : Result{kNotReady};
}

Result cuEventElapsedTime(float* ms, Event* start, Event* end) {
  MADE_UP_READY();
  if (!start->done || !end->done) return kNotReady;
  *ms = static_cast<float>(static_cast<double>(end->at_ns - start->at_ns) * 1e-6);
  return kSuccess;
}

}  // extern "C"

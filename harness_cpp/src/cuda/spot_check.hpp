// The outputs of one timed launch, chosen at random, kept to be held against the right ones: a
// kernel that is right only while it is checked is caught by its own measurement.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/allocation.hpp"
#include "cuda/context.hpp"
#include "cuda/images.hpp"
#include "device.hpp"

namespace cudaopt::cuda {

class SpotCheck {
 public:
  // Of one of the first `samples`, which gets the contents of image `content`.
  SpotCheck(const Context& context, const Images& images, int content, int samples);

  [[nodiscard]] int sample() const { return m_sample; }
  [[nodiscard]] int content() const { return m_content; }
  // Queues keeping what `slab` holds then.
  void enqueue_keep(DevicePointer slab) const;
  // What was kept of `buffers`, once that has happened.
  [[nodiscard]] Captured captured(const Memory& memory, const std::vector<std::string>& buffers,
                                  SamplingMode mode) const;

 private:
  const Context& m_context;
  const Images& m_images;
  int m_content = 0, m_sample = 0;
  std::unique_ptr<Allocation> m_kept;
};

}  // namespace cudaopt::cuda

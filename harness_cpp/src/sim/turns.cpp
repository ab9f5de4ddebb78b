#include "sim/turns.hpp"

#include <algorithm>
#include <utility>

namespace cudaopt::sim {
namespace {

using Kind = Order::Kind;

// splitmix64
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A permutation of the numbers below `count`, without a table: a Feistel network over the next
// power of four, walked until it comes back into range.
std::uint64_t permuted(std::uint64_t index, std::uint64_t count, std::uint64_t seed) {
  unsigned half = 1;
  while (half < 31 && (std::uint64_t{1} << (2 * half)) < count) ++half;
  const std::uint64_t low = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = index >> half, right = index & low;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = mix(seed + round * 0x9e3779b97f4a7c15u + right);
      left = std::exchange(right, left ^ (mixed & low));
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

}  // namespace

std::uint64_t RandomNumbers::next() { return mix(m_state += 0x9e3779b97f4a7c15u); }

std::uint64_t block_at(const Order& order, std::uint64_t count, std::uint64_t window,
                       std::uint64_t index) {
  if (order.kind == Kind::forward) return index;
  const std::uint64_t first = index / window * window;
  const std::uint64_t size = std::min(window, count - first);
  if (order.kind == Kind::reverse) return first + size - 1 - (index - first);
  return first + permuted(index - first, size, mix(order.seed) + first);
}

Turns::Turns(const Order& order, std::uint32_t warps) : m_order(order), m_warps(warps) {
  for (std::uint32_t i = 0; i < warps; ++i) m_warps[i] = i;
  if (order.kind == Kind::reverse) std::reverse(m_warps.begin(), m_warps.end());
}

void Turns::begin(std::uint64_t block) {
  m_random = RandomNumbers(mix(m_order.seed) + block);
  if (m_order.kind == Kind::random) std::sort(m_warps.begin(), m_warps.end());
}

const std::vector<std::uint32_t>& Turns::next_round() {
  if (m_order.kind == Kind::random) {
    for (std::size_t i = m_warps.size(); i > 1; --i) {
      std::swap(m_warps[i - 1], m_warps[m_random.below(i)]);
    }
  }
  return m_warps;
}

std::uint32_t Turns::slice() {
  if (m_order.kind != Kind::random) return kSlice;
  const std::uint64_t most = std::uint64_t{1} << m_random.below(9);
  return static_cast<std::uint32_t>(1 + m_random.below(most));
}

bool Turns::yields() { return m_order.kind == Kind::random && m_random.below(2) == 0; }

}  // namespace cudaopt::sim

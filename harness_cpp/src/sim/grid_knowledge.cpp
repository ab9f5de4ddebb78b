#include "sim/grid_knowledge.hpp"

namespace cudaopt::sim {

bool join(Until& into, const Until& other) {
  bool changed = false;
  for (std::size_t i = 0; i < into.size(); ++i) {
    changed = changed || other[i] > into[i];
    into[i] = other[i] > into[i] ? other[i] : into[i];
  }
  return changed;
}

// A leaf has times, an inner node children by digit of the block's number, the lowest digit last.
// Never changed once shared.
struct GridKnowledge::Node {
  bool leaf = false;
  Until until{};
  std::array<Shared, 1 << kFanOutBits> children{};
};

namespace {

std::size_t digit(std::uint64_t block, int level, int bits) {
  return static_cast<std::size_t>(block >> (level * bits)) & ((std::size_t{1} << bits) - 1);
}

}  // namespace

const Until* GridKnowledge::of(std::uint64_t block) const {
  const Node* node = m_root.get();
  for (int level = kLevels - 1; node != nullptr && level >= 0; --level)
    node = node->children[digit(block, level, kFanOutBits)].get();
  return node == nullptr ? nullptr : &node->until;
}

GridKnowledge::Shared GridKnowledge::joined_leaf(const Shared& a, const Shared& b) {
  Until until = a->until;
  if (!sim::join(until, b->until)) return a;
  if (until == b->until) return b;
  auto node = std::make_shared<Node>();
  node->leaf = true;
  node->until = until;
  return node;
}

// One of the two themselves where the other adds nothing, so that equal parts stay shared.
GridKnowledge::Shared GridKnowledge::joined(const Shared& a, const Shared& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  if (a->leaf) return joined_leaf(a, b);
  bool as_a = true, as_b = true;
  std::array<Shared, 1 << kFanOutBits> children;
  for (std::size_t i = 0; i < children.size(); ++i) {
    children[i] = joined(a->children[i], b->children[i]);
    as_a = as_a && children[i] == a->children[i];
    as_b = as_b && children[i] == b->children[i];
  }
  if (as_a || as_b) return as_a ? a : b;
  auto node = std::make_shared<Node>();
  node->children = std::move(children);
  return node;
}

GridKnowledge::Shared GridKnowledge::inserted(const Shared& node, int level, std::uint64_t block,
                                              const Until& until) {
  if (level < 0) {
    auto leaf = std::make_shared<Node>();
    leaf->leaf = true;
    leaf->until = until;
    return node == nullptr ? leaf : joined_leaf(node, leaf);
  }
  const std::size_t at = digit(block, level, kFanOutBits);
  const Shared before = node == nullptr ? nullptr : node->children[at];
  const Shared child = inserted(before, level - 1, block, until);
  if (child == before) return node;
  auto copy = node == nullptr ? std::make_shared<Node>() : std::make_shared<Node>(*node);
  copy->children[at] = child;
  return copy;
}

void GridKnowledge::join(const GridKnowledge& other) { m_root = joined(m_root, other.m_root); }

void GridKnowledge::join(std::uint64_t block, const Until& until) {
  m_root = inserted(m_root, kLevels - 1, block, until);
}

}  // namespace cudaopt::sim

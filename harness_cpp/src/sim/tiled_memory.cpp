#include "sim/tiled_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device.hpp"

namespace cudaopt::sim {
namespace {

// A process may have 65530 mappings, and other buffers need some.
constexpr std::uint64_t kMostMappings = 1 << 14;
constexpr std::uint64_t kFewestPieceBytes = 4 << 20;

[[noreturn]] void fail(const std::string& name, std::uint64_t bytes) {
  throw Fault(FaultKind::out_of_memory,
              "buffer '" + name + "': no address space for " + std::to_string(bytes) +
                  " bytes: " + std::strerror(errno) + "; use a smaller case");
}

class Descriptor {
 public:
  explicit Descriptor(int number) : m_number(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (m_number >= 0) ::close(m_number);
  }
  [[nodiscard]] int get() const { return m_number; }

 private:
  int m_number;
};

int open_nameless_file() {
#ifdef __linux__
  return ::memfd_create("cudaopt tile", MFD_CLOEXEC);
#else
  errno = ENOTSUP;
  return -1;
#endif
}

bool write_all(int file, const std::uint8_t* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(file, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

// Whole tiles, enough of them that few mappings do.
std::uint64_t tiles_per_piece(std::uint64_t tile_bytes, std::uint64_t bytes) {
  const std::uint64_t wanted =
      std::min(bytes, std::max(kFewestPieceBytes, bytes / kMostMappings + 1));
  return std::max<std::uint64_t>(1, (wanted + tile_bytes - 1) / tile_bytes);
}

}  // namespace

TiledMemory::TiledMemory(const std::string& name, const std::vector<std::uint8_t>& tile,
                         std::uint64_t bytes, std::uint64_t phase)
    : m_phase(phase % tile.size()) {
  const std::uint64_t tiles = tiles_per_piece(tile.size(), bytes + m_phase);
  const std::uint64_t piece = tiles * tile.size();
  const std::uint64_t pieces = std::max<std::uint64_t>(1, (bytes + m_phase + piece - 1) / piece);
  m_memory.reserve(name, pieces * piece);
  const Descriptor file(open_nameless_file());
  if (file.get() < 0) fail(name, bytes);
  // Turned round, so that the tile's first byte lies `phase` bytes into each piece.
  const std::uint64_t turn = tile.size() - m_phase;
  for (std::uint64_t i = 0; i < tiles; ++i) {
    if (!write_all(file.get(), tile.data() + turn, m_phase) ||
        !write_all(file.get(), tile.data(), turn)) {
      fail(name, bytes);
    }
  }
  for (std::uint64_t i = 0; i < pieces; ++i) {
    void* const at = m_memory.base + i * piece;
    if (::mmap(at, piece, PROT_READ, MAP_SHARED | MAP_FIXED, file.get(), 0) == MAP_FAILED) {
      fail(name, bytes);
    }
  }
}

void TiledMemory::Reserved::reserve(const std::string& name, std::uint64_t wanted) {
  void* const got =
      ::mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) fail(name, wanted);
  base = static_cast<std::uint8_t*>(got);
  bytes = wanted;
}

TiledMemory::Reserved::~Reserved() {
  if (base != nullptr) ::munmap(base, bytes);
}

}  // namespace cudaopt::sim

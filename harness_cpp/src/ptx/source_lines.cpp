#include "ptx/source_lines.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace cudaopt::ptx {

namespace {

bool ends_with_path(std::string_view path, std::string_view tail) {
  if (path.size() < tail.size() || path.substr(path.size() - tail.size()) != tail) return false;
  return path.size() == tail.size() || path[path.size() - tail.size() - 1] == '/';
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// A request names the user's own headers relative to his source, and only those begin with a dot.
bool is_own_header(std::string_view path) {
  return path.substr(0, 2) == "./" || path.substr(0, 3) == "../";
}

std::string as_shown(const std::string& path) {
  return path.substr(0, 2) == "./" ? path.substr(2) : path;
}

// NVRTC writes the name it was given with the working folder in front; the request may name the
// same file from elsewhere. The whole path decides; if no file has it, the last part does.
class UserFile {
 public:
  UserFile(const Module& module, std::string_view name) : m_name(name) {
    for (const auto& [index, path] : module.files) {
      m_by_path |= !is_own_header(path) && same_path(path);
    }
  }

  [[nodiscard]] bool is(std::string_view path) const {
    if (m_name.empty() || is_own_header(path)) return false;
    return m_by_path ? same_path(path) : base_name(path) == base_name(m_name);
  }

 private:
  [[nodiscard]] bool same_path(std::string_view path) const {
    return ends_with_path(path, m_name) || ends_with_path(m_name, path);
  }

  std::string_view m_name;
  bool m_by_path = false;
};

std::set<std::string> own_headers(const Module& module) {
  std::set<std::string> names;
  for (const auto& [index, path] : module.files) {
    if (is_own_header(path)) names.insert(as_shown(path));
  }
  return names;
}

}  // namespace

std::vector<SourcePoint> source_chain(const Module& module, std::int32_t location,
                                      const std::string& user_file) {
  const UserFile user(module, user_file);
  std::vector<SourcePoint> chain;
  // An inlined_at is always smaller than its own index, so this ends.
  for (std::int32_t i = location; i >= 0; i = module.locations[i].inlined_at) {
    const Location& place = module.locations[i];
    const auto file = module.files.find(place.file);
    if (place.line == 0 || file == module.files.end()) continue;
    chain.push_back(
        {user.is(file->second) ? user_file : as_shown(file->second), static_cast<int>(place.line)});
  }
  return chain;
}

SourceLines user_lines(const Module& module, std::int32_t location, const std::string& user_file) {
  const std::vector<SourcePoint> chain = source_chain(module, location, user_file);
  if (chain.empty()) return {};
  const std::set<std::string> own = own_headers(module);
  auto at = std::find_if(chain.begin(), chain.end(), [&](const SourcePoint& point) {
    return point.file == user_file || own.count(point.file) != 0;
  });
  if (at == chain.end()) at = chain.begin();
  return {*at, std::vector<SourcePoint>(at + 1, chain.end())};
}

}  // namespace cudaopt::ptx

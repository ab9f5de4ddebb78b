// The top of a request, its modules and its buffers; parse_steps reads the program.
#include "protocol/request.hpp"

#include <algorithm>
#include <set>

#include "protocol/parse_layouts.hpp"
#include "protocol/parse_steps.hpp"

namespace cudaopt::protocol {
namespace {

// Sizes stay far below what 64-bit address arithmetic of a device can hold.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 38;
constexpr std::uint64_t kMostElementBytes = 4096;
constexpr std::uint64_t kMostThreads = 1024;
constexpr std::uint64_t kAny32 = 0xffffffffu;
constexpr std::uint64_t kAny64 = 0x7fffffffffffffffu;

std::optional<std::string> optional_text(Object& object, const std::string& key) {
  const auto value = object.find(key);
  if (!value) return std::nullopt;
  return value->nonempty_text();
}

std::vector<std::string> optional_texts(Object& object, const std::string& key) {
  std::vector<std::string> texts;
  if (const auto value = object.find(key)) {
    for (const Value& item : value->array()) texts.push_back(item.text());
  }
  return texts;
}

std::map<std::string, std::string> optional_text_map(Object& object, const std::string& key) {
  std::map<std::string, std::string> texts;
  if (const auto value = object.find(key)) {
    for (const auto& [name, text] : value->pairs()) texts[name] = text.text();
  }
  return texts;
}

template <class Number>
void read_natural(Object& object, const std::string& key, std::uint64_t maximum, Number& into) {
  if (const auto value = object.find(key)) into = static_cast<Number>(value->natural(maximum));
}

std::string new_name(Object& object, std::set<std::string>& taken, const std::string& kind) {
  const Value value = object.need("name");
  const std::string name = value.nonempty_text();
  if (!taken.insert(name).second) value.reject("a name no earlier " + kind + " has");
  return name;
}

SimOptionsEntry parse_sim(Object object) {
  SimOptionsEntry sim;
  read_natural(object, "threads", kMostThreads, sim.threads);
  if (const auto isa = object.find("isa")) {
    (void)isa->one_of({"auto", "x86-64", "x86-64-v3"});
    sim.isa = isa->text();
  }
  if (const auto model = object.find("model")) sim.model = model->nonempty_text();
  read_natural(object, "block_instructions", kAny64, sim.block_instructions);
  object.reject_unknown_keys();
  return sim;
}

std::vector<std::string> parse_types(const Value& value) {
  std::vector<std::string> types;
  for (const Value& type : value.array()) types.push_back(type.nonempty_text());
  if (types.empty()) value.reject("at least one type");
  return types;
}

EntrySpec parse_entry(Object object) {
  EntrySpec entry;
  entry.name = object.need("name").nonempty_text();
  if (const auto parameters = object.find("parameters")) {
    entry.parameters.emplace();
    for (const Value& parameter : parameters->array()) {
      entry.parameters->push_back(parse_types(parameter));
    }
  }
  object.reject_unknown_keys();
  return entry;
}

Resources parse_resources(Object object) {
  Resources resources;
  read_natural(object, "registers", kAny32, resources.registers);
  read_natural(object, "spill_store_bytes", kAny32, resources.spill_store_bytes);
  read_natural(object, "spill_load_bytes", kAny32, resources.spill_load_bytes);
  read_natural(object, "static_shared_bytes", kAny32, resources.static_shared_bytes);
  read_natural(object, "stack_bytes", kAny32, resources.stack_bytes);
  read_natural(object, "constant_bytes", kAny32, resources.constant_bytes);
  object.reject_unknown_keys();
  return resources;
}

bool names_an_architecture(const std::string& text) {
  return text.rfind("sm_", 0) == 0 && text.size() > 4 &&
         text.find_first_not_of("0123456789af", 3) == std::string::npos;
}

ModuleSpec parse_module(Object object, std::set<std::string>& taken) {
  ModuleSpec module;
  module.name = new_name(object, taken, "module");
  module.file = optional_text(object, "file").value_or(module.name + ".cu");
  module.source_file = optional_text(object, "source_file");
  if (const auto source = object.find("source")) {
    module.source = source->text();
    if (module.source_file) source->reject("either \"source\" or \"source_file\", not both");
  }
  module.options = optional_texts(object, "options");
  module.include = optional_texts(object, "include");
  module.headers = optional_text_map(object, "headers");
  if (const auto entries = object.find("entries")) {
    for (const Value& entry : entries->array()) {
      module.entries.push_back(parse_entry(entry.object()));
    }
  }
  parse_layouts(object, module);
  if (const auto architecture = object.find("architecture")) {
    module.architecture = architecture->text();
    if (!names_an_architecture(module.architecture)) {
      architecture->reject("an architecture such as \"sm_90\"");
    }
  }
  if (const auto tables = object.find("line_tables")) module.line_tables = tables->boolean();
  module.ptx_file = optional_text(object, "ptx_file");
  module.cubin_file = optional_text(object, "cubin_file");
  module.lowered = optional_text_map(object, "lowered");
  if (const auto resources = object.find("resources")) {
    for (const auto& [entry, value] : resources->pairs()) {
      module.resources[entry] = parse_resources(value.object());
    }
  }
  object.reject_unknown_keys();
  return module;
}

// An alias owns no memory, so nothing that describes memory may be said of it.
void read_alias(Object& object, const std::set<std::string>& earlier, BufferSpec& spec) {
  const auto alias = object.find("alias");
  if (!alias) return;
  spec.alias = alias->nonempty_text();
  if (earlier.count(spec.alias) == 0) {
    alias->reject("the name of an earlier buffer", "Declare that buffer before this one.");
  }
  for (const char* key : {"guard_bytes", "initial_file", "tile_file", "poison"}) {
    if (const auto value = object.find(key)) {
      value->reject("no such key beside \"alias\"", "Say it of the buffer that owns the memory.");
    }
  }
}

// A tile is mapped many times: what is written to one place would be read in others.
void read_tile(Object& object, BufferEntry& buffer) {
  buffer.tile_file = optional_text(object, "tile_file");
  if (!buffer.tile_file) return;
  if (buffer.spec.access != Access::read) {
    object.need("tile_file")
        .reject("\"access\": \"read\" beside \"tile_file\"",
                "Give a buffer that kernels write its own memory.");
  }
  if (const auto file = object.find("initial_file")) {
    file->reject("no such key beside \"tile_file\"", "Keep one of them.");
  }
}

BufferEntry parse_buffer(Object object, std::set<std::string>& taken) {
  BufferEntry buffer;
  BufferSpec& spec = buffer.spec;
  const std::set<std::string> earlier = taken;
  spec.name = new_name(object, taken, "buffer");
  spec.bytes = object.need("bytes").natural(kMostBytes);
  if (const auto access = object.find("access")) {
    constexpr Access kAccess[] = {Access::read, Access::write, Access::read_write};
    spec.access = kAccess[access->one_of({"read", "write", "read_write"})];
  }
  read_natural(object, "element_bytes", kMostElementBytes, spec.element_bytes);
  spec.element_bytes = std::max<std::uint32_t>(1, spec.element_bytes);
  read_natural(object, "offset_bytes", kMostBytes, spec.offset_bytes);
  read_alias(object, earlier, spec);
  read_natural(object, "guard_bytes", kMostBytes, spec.guard_bytes);
  buffer.initial_file = optional_text(object, "initial_file");
  read_tile(object, buffer);
  if (const auto poison = object.find("poison")) spec.poison = poison->hex();
  object.reject_unknown_keys();
  return buffer;
}

void check_protocol(Object& root) {
  const Value version = root.need("protocol");
  if (version.natural(kAny32) != kProtocolVersion) {
    version.reject("protocol version " + std::to_string(kProtocolVersion),
                   "Install the package and the harness of one release.");
  }
}

}  // namespace

Request parse_request(const Document& document, const std::string& default_directory) {
  Object root = document.root();
  check_protocol(root);
  Request request;
  if (const auto id = root.find("id")) request.id = id->text();
  if (const auto nonce = root.find("nonce")) request.nonce = nonce->text();
  request.directory = optional_text(root, "directory").value_or(default_directory);
  request.device = root.need("device").nonempty_text();
  if (const auto timeout = root.find("timeout_s")) {
    request.timeout_s = timeout->number_at_least(0);
  }
  request.nvrtc = optional_text(root, "nvrtc");
  if (const auto sim = root.find("sim")) request.sim = parse_sim(sim->object());
  std::set<std::string> modules, buffers;
  if (const auto values = root.find("modules")) {
    for (const Value& value : values->array()) {
      request.modules.push_back(parse_module(value.object(), modules));
    }
  }
  if (const auto values = root.find("buffers")) {
    for (const Value& value : values->array()) {
      request.buffers.push_back(parse_buffer(value.object(), buffers));
    }
  }
  request.steps = parse_steps(root.need("steps"), request);
  root.reject_unknown_keys();
  return request;
}

}  // namespace cudaopt::protocol

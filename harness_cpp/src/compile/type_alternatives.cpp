#include "compile/type_alternatives.hpp"

#include <set>

namespace cudaopt::compile {
namespace {

struct Vectors {
  const char* element;
  std::vector<const char*> vectors;
  bool is_of_header;  // its header may not be included
};

const std::vector<Vectors>& all_vectors() {
  static const std::vector<Vectors> all = {
      {"float", {"float2", "float4"}, false},
      {"double", {"double2"}, false},
      {"signed char", {"char2", "char4"}, false},
      {"short", {"short2", "short4"}, false},
      {"int", {"int2", "int4"}, false},
      {"long long", {"longlong2"}, false},
      {"unsigned char", {"uchar2", "uchar4"}, false},
      {"unsigned short", {"ushort2", "ushort4"}, false},
      {"unsigned int", {"uint2", "uint4"}, false},
      {"unsigned long long", {"ulonglong2"}, false},
      {"__half", {"__half2"}, true},
      {"__nv_bfloat16", {"__nv_bfloat162"}, true},
      {"__nv_fp8_e4m3", {"__nv_fp8x2_e4m3", "__nv_fp8x4_e4m3"}, true},
      {"__nv_fp8_e5m2", {"__nv_fp8x2_e5m2", "__nv_fp8x4_e5m2"}, true},
  };
  return all;
}

// "const float*" to "float".
std::string element_of(const std::string& pointer) {
  const std::string qualifier = "const ";
  const std::size_t start = pointer.rfind(qualifier, 0) == 0 ? qualifier.size() : 0;
  return pointer.substr(start, pointer.size() - start - 1);
}

bool is_pointer(const std::string& type) { return !type.empty() && type.back() == '*'; }

}  // namespace

TypeAlternatives with_vectors(const TypeAlternatives& types) {
  TypeAlternatives all = types;
  for (const std::string& type : types) {
    if (!is_pointer(type)) continue;
    const std::string element = element_of(type);
    for (const Vectors& of : all_vectors()) {
      if (element != of.element) continue;
      const std::string qualifier = type.substr(0, type.size() - element.size() - 1);
      for (const char* vector : of.vectors) all.push_back(qualifier + vector + "*");
    }
  }
  return all;
}

std::string declarations_of_classes(const TypeAlternatives& types) {
  std::set<std::string> elements;
  for (const std::string& type : types) elements.insert(is_pointer(type) ? element_of(type) : type);
  std::string text;
  for (const Vectors& of : all_vectors()) {
    if (!of.is_of_header) continue;
    const std::string element = of.element;
    if (elements.count(element) > 0) text += "struct " + element + ";\n";
    for (const char* vector : of.vectors) {
      if (elements.count(vector) > 0) text += std::string("struct ") + vector + ";\n";
    }
  }
  return text;
}

std::string quoted(const TypeAlternatives& types) {
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "'" : " or '") + type + "'";
  return text;
}

}  // namespace cudaopt::compile

// Runs the steps of one request, in order, on a fresh device. Every failure is a Fault.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "compile/nvrtc.hpp"
#include "device.hpp"
#include "protocol/answer.hpp"
#include "protocol/request.hpp"
#include "steps/files.hpp"
#include "steps/progress.hpp"

namespace cudaopt::steps {

class Executor {
 public:
  // `nvrtc_path` wins over the request's own; empty: not given.
  Executor(const protocol::Request& request, compile::NvrtcLibraries& libraries,
           std::string nvrtc_path, Progress& progress);

  void run();

  protocol::StepAnswer operator()(const protocol::CompileStep& step);
  protocol::StepAnswer operator()(const protocol::LoadStep& step);
  protocol::StepAnswer operator()(const protocol::FillStep& step);
  protocol::StepAnswer operator()(const protocol::CopyStep& step);
  protocol::StepAnswer operator()(const protocol::WriteStep& step);
  protocol::StepAnswer operator()(const protocol::LaunchStep& step);
  protocol::StepAnswer operator()(const protocol::ReadStep& step);
  protocol::StepAnswer operator()(const protocol::ReadGuardsStep& step);
  protocol::StepAnswer operator()(const protocol::DigestStep& step);
  protocol::StepAnswer operator()(const protocol::CompareDigestStep& step);
  protocol::StepAnswer operator()(const protocol::MeasureStep& step);
  protocol::StepAnswer operator()(const protocol::LimitsStep& step);

 private:
  void create_buffers();
  [[nodiscard]] const protocol::ModuleSpec& spec_of(const std::string& module) const;
  [[nodiscard]] std::uint64_t bytes_of(const std::string& buffer) const;
  [[nodiscard]] std::string source_of(const protocol::ModuleSpec& spec) const;
  [[nodiscard]] const CompiledModule& compiled(const std::string& module);
  [[nodiscard]] LaunchSpec with_lowered_entry(LaunchSpec launch) const;

  const protocol::Request& m_request;
  compile::NvrtcLibraries& m_libraries;
  std::string m_nvrtc_path;
  Progress& m_progress;
  Files m_files;
  std::unique_ptr<Device> m_device;
  std::map<std::string, CompiledModule> m_compiled;  // by module name
  std::set<std::string> m_loaded;
};

}  // namespace cudaopt::steps

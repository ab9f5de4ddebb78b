// Runs the steps of one request, in order, on a fresh device. Every failure is a Fault.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compile/nvrtc.hpp"
#include "device.hpp"
#include "protocol/answer.hpp"
#include "protocol/request.hpp"
#include "steps/devices.hpp"
#include "steps/files.hpp"
#include "steps/last_reads.hpp"
#include "steps/progress.hpp"

namespace cudaopt::steps {

class Executor {
 public:
  // `nvrtc_path` wins over the request's own; empty: not given.
  Executor(const protocol::Request& request, compile::NvrtcLibraries& libraries,
           std::string nvrtc_path, Devices& devices, Progress& progress);

  void run();

  protocol::StepAnswer operator()(const protocol::CompileStep& step);
  protocol::StepAnswer operator()(const protocol::LoadStep& step);
  protocol::StepAnswer operator()(const protocol::FillStep& step);
  protocol::StepAnswer operator()(const protocol::CopyStep& step);
  protocol::StepAnswer operator()(const protocol::WriteStep& step);
  protocol::StepAnswer operator()(const protocol::ResetStep& step);
  protocol::StepAnswer operator()(const protocol::LaunchStep& step);
  protocol::StepAnswer operator()(const protocol::ReadStep& step);
  protocol::StepAnswer operator()(const protocol::ReadGuardsStep& step);
  protocol::StepAnswer operator()(const protocol::ReadShadowStep& step);
  protocol::StepAnswer operator()(const protocol::DigestStep& step);
  protocol::StepAnswer operator()(const protocol::CompareDigestStep& step);
  protocol::StepAnswer operator()(const protocol::MeasureStep& step);
  protocol::StepAnswer operator()(const protocol::InterleaveStep& step);
  protocol::StepAnswer operator()(const protocol::LimitsStep& step);

 private:
  void create_buffers();
  [[nodiscard]] BufferSpec with_tile(const protocol::BufferEntry& buffer) const;
  void write_initial_contents(const protocol::BufferEntry& buffer);
  [[nodiscard]] const protocol::ModuleSpec& spec_of(const std::string& module) const;
  [[nodiscard]] std::uint64_t bytes_of(const std::string& buffer) const;
  [[nodiscard]] std::string source_of(const protocol::ModuleSpec& spec) const;
  [[nodiscard]] const CompiledModule& compiled(const std::string& module);
  [[nodiscard]] CompiledModule module_from_files(const protocol::ModuleSpec& spec) const;
  [[nodiscard]] FileContents contents_of(const protocol::ContentFiles& files) const;
  void write_captured(const protocol::MeasureStep& step, const Contents& outputs) const;
  [[nodiscard]] LaunchSpec with_lowered_entry(LaunchSpec launch) const;

  const protocol::Request& m_request;
  compile::NvrtcLibraries& m_libraries;
  std::string m_nvrtc_path;
  Devices& m_devices;
  Progress& m_progress;
  Files m_files;
  LastReads m_last_reads;
  std::unique_ptr<Device> m_device;
  std::map<std::string, CompiledModule> m_compiled;           // by module name
  std::map<std::string, std::vector<std::string>> m_entries;  // of each loaded module
};

}  // namespace cudaopt::steps

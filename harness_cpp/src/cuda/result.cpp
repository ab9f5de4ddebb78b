// The codes of cuda.h that a kernel, its launch or the machine can cause.
#include "cuda/result.hpp"

namespace cudaopt::cuda {
namespace {

struct Row {
  int result;
  ResultMeaning meaning;
};

constexpr bool kEnds = true;

// 719 is what `trap;` gives (H200, driver 580); assertions have a code of their own.
constexpr Row kRows[] = {
    {1, {FaultKind::launch_error, "the driver refuses a value", false}},
    {2, {FaultKind::out_of_memory, "the GPU's memory does not suffice", false}},
    {3, {FaultKind::no_device, "the driver is not initialised", kEnds}},
    {4, {FaultKind::no_device, "the driver is shutting down", kEnds}},
    {34, {FaultKind::no_device, "libcuda is the toolkit's stub, not the driver", false}},
    {46, {FaultKind::no_device, "the GPU is in exclusive use by another process", false}},
    {100, {FaultKind::no_device, "the driver finds no GPU", false}},
    {101, {FaultKind::no_device, "there is no such GPU", false}},
    {200, {FaultKind::launch_error, "the cubin cannot be read", false}},
    {209, {FaultKind::launch_error, "the cubin is for another architecture", false}},
    {214, {FaultKind::no_device, "the GPU's memory has an uncorrectable error", kEnds}},
    {220, {FaultKind::no_device, "a link between GPUs has an uncorrectable error", kEnds}},
    {222, {FaultKind::launch_error, "the cubin is of a newer CUDA than the driver", false}},
    {226, {FaultKind::launch_error, "an error that the GPU contained", kEnds}},
    {700,
     {FaultKind::illegal_address, "the kernel accessed memory outside what it was given", kEnds}},
    {701,
     {FaultKind::invalid_launch,
      "the launch needs more registers or threads than a multiprocessor has", false}},
    {702, {FaultKind::timeout, "the kernel ran longer than the system allows", kEnds}},
    {709, {FaultKind::launch_error, "the context is destroyed", kEnds}},
    {710, {FaultKind::trap, "an assertion in the kernel failed", kEnds}},
    {714, {FaultKind::launch_error, "the call stack overflowed or was damaged", kEnds}},
    {715, {FaultKind::trap, "the kernel reached an illegal instruction", kEnds}},
    {716,
     {FaultKind::misaligned,
      "the kernel accessed an address that is no multiple of the access's size", kEnds}},
    {717,
     {FaultKind::illegal_address, "an address is of another memory space than the instruction's",
      kEnds}},
    {718, {FaultKind::launch_error, "the program counter is outside the kernel", kEnds}},
    {719,
     {FaultKind::trap, "the kernel stopped in a trap, or in a way the driver has no name for",
      kEnds}},
    {720,
     {FaultKind::invalid_launch, "a cooperative launch has more blocks than fit the GPU at once",
      false}},
    {721, {FaultKind::launch_error, "the kernel ended without freeing its tensor memory", kEnds}},
    {802,
     {FaultKind::no_device, "the system is not ready (is the fabric manager running?)", false}},
    {803,
     {FaultKind::no_device, "the driver's kernel module and libcuda are of different releases",
      false}},
    {804,
     {FaultKind::no_device, "libcuda is of a release this GPU's driver does not go with", false}},
    {810, {FaultKind::no_device, "the MPS server ended this process's connection", kEnds}},
    {912, {FaultKind::invalid_launch, "the GPU has no room for a cluster of this size", false}},
    {999, {FaultKind::launch_error, "the driver has no name for the error", kEnds}},
};

}  // namespace

ResultMeaning meaning_of(int result) {
  for (const Row& row : kRows) {
    if (row.result == result) return row.meaning;
  }
  return {};
}

}  // namespace cudaopt::cuda

"""The words a model gets. What stays the same in a run comes first, so that servers can cache it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import attempt_feedback, describe, memory, model_terms
from pytest_cudaopt.properties import Property
from pytest_cudaopt.tolerance import Tolerance

if TYPE_CHECKING:
    from pytest_cudaopt.answers import Limits
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.float_expressions import FloatExpression
    from pytest_cudaopt.optimize.attempt import Attempt
    from pytest_cudaopt.parameters import Parameter

INSTRUCTIONS = """\
You make a CUDA kernel faster without changing what it computes.

You propose one version at a time. Each is compiled with NVRTC, checked against a reference on declared,
held-out and randomly drawn sizes and values, watched for races, reads of uninitialised memory, out-of-bounds
accesses and barrier divergence, and only then timed. What you propose must be right for every size, not only
for the cases you see: sizes that are no multiple of anything, sizes of 0 and 1, non-finite values. Speed is
the geometric mean over the measured cases.

Rules for a proposal:
- `source` is the whole file. Keep the kernel's name, its parameters, their types and their order;
  `__restrict__` is fine, and so is inline PTX.
- No host code. Only headers that NVRTC has: cuda_fp16.h, cuda_bf16.h, mma.h, cooperative_groups.h,
  cub/..., cuda/std/...
- The launch rule is made of expressions over the sizes and the tunables, so that it holds for sizes
  nobody listed: + - * / // % (integers), comparisons, and, or, not, cdiv(a, b), align_up(a, b), min, max,
  next_pow2(a), where(condition, a, b). Such as: grid=(cdiv(n, BN), cdiv(m, BM)) block=(32, 8), or
  block=(min(1024, align_up(n, 32))). `shared` is dynamic shared memory in bytes, up to the device's limit
  (more than 48 KB needs nothing else). A grid dimension of 0 launches nothing, which is right only where
  every output is empty.
- Tunables are compile-time integers that reach the source as macros. Before a version with several
  settings is judged, at most 8 of those that satisfy `tune_where` are timed, and the fastest is judged:
  the first values, then settings as far as can be from those before. Keep the space small, the most
  promising values first.
- Arrays begin at multiples of 256 bytes in the declared cases, but a version that needs more than an
  element's alignment, for float4 say, has to test the pointer and have another way: callers may pass
  slices.
- One launch, no memory that outlives it, no writes to inputs. Outputs hold garbage before the launch,
  unless the parameter is an InOut.
- Precision: the declared tolerance decides, and on drawn inputs 4 times the error of the kernel to start
  from where that is more. A division turned into a product with the reciprocal, exp2f for expf, another
  order of a sum are fine within it. Arithmetic in f16, bf16 or tf32 on f32 data is not.
- A faster way for some sizes (`cols % 4 == 0`, a row that fits in registers) is fine beside a general one
  that is right for all. Listing the sizes of the cases is not, nor is what a timed launch cannot need:
  caching results, recognising values.

If an attempt failed, find out why before you try something else. Prefer one change that you can explain."""

_ON_SIM = """\
`sim` executes the PTX of every thread: shuffles, votes and reductions of a warp, mma, ldmatrix, cp.async,
atomics, inline PTX; but no wgmma, tensor maps, textures, malloc, or clusters of more than one block.
Latencies are those of a model.
"""


@dataclass(frozen=True)
class Allowance:
    """What a model may use in one run; `allow_slower` is how much slower a case may get, 0.02 for 2 %."""

    iterations: int
    allow_slower: float
    tool_calls: int
    tool_rounds: int


def brief(kernel: Kernel, start: str, limits: Limits, allowance: Allowance) -> str:
    """Return what stays the same in a run: kernel, parameters, reference, cases, device."""
    parts = [
        f"# The kernel `{kernel.entry}`",
        kernel.doc.strip(),
        "## Parameters, in order",
        "\n".join(_parameter(parameter) for parameter in kernel.parameters),
        f"Sizes: {', '.join(kernel.sizes) or 'none'}"
        + "".join(f"; {name} = {expression}" for name, expression in kernel.derived),
        "## What is accepted",
        "\n".join(_accepted(kernel, one) for one in kernel.instances[0].parameters if one.is_output),
        "## What must be kept",
        _obligations(kernel),
        "## Reference",
        _fenced(describe.reference_source(kernel), "python"),
        "## Cases",
        "\n".join(_case(kernel, number) for number in range(len(kernel.cases))),
        "## What counts",
        _counts(allowance),
        "## Device",
        f"{limits.name}, {limits.architecture}: {limits.multiprocessors} multiprocessors, "
        f"{limits.max_threads_per_block} threads and {limits.max_shared_bytes} bytes of shared memory "
        "per block",
        # A device without facts of a GPU is modelled.
        "" if limits.gpu is not None else _ON_SIM + model_terms.HOW_THEY_ADD_UP,
        "## The kernel to start from",
        _fenced(start, "cuda"),
    ]
    return "\n\n".join(part for part in parts if part)


def _obligations(kernel: Kernel) -> str:
    bound = [f"- {one}: {one.meaning}" for one in Property if kernel.obligations.binds(one)]
    free = sorted(kernel.obligations.ignored)
    return "\n".join(
        [
            *_limits(kernel),
            "Wherever the kernel to start from is right, beyond the cases too, a version must be right:",
            *bound,
            *([f"Not needed: {', '.join(free)}."] if free else []),
        ]
    )


def _limits(kernel: Kernel) -> list[str]:
    if kernel.limits is None:
        return []
    listed = ", ".join(f"{name} <= {most}" for name, most in kernel.limits.given.items())
    return [
        "Every version must keep these limits, by the compiler's numbers; shared memory is a block's, with "
        f"the dynamic part: {listed}."
    ]


def _counts(allowance: Allowance) -> str:
    tools = (
        f"- Tools may be called {allowance.tool_calls} times before each proposal, in at most "
        f"{allowance.tool_rounds} replies."
        if allowance.tool_calls
        else "- There are no tools, and there is one proposal alone, which cannot be mended afterwards."
    )
    return (
        "- A new best has a lower geometric mean than the best so far, by however little, and in no measured "
        f"case more than {1 + allowance.allow_slower:g} times the latency of the best so far or of the "
        f"start.\n{tools}"
    )


def situation(kernel: Kernel, attempts: Sequence[Attempt], best: Attempt, allowance: Allowance) -> str:
    """Return what changes: what was tried, the best so far, how the last attempt ended."""
    last = attempts[-1]
    parts = ["## Tried so far", memory.summary(attempts)]
    looked = memory.looked(attempts)
    parts += ["## What tools answered before", looked] if looked else []
    parts += [f"## The best so far: attempt {best.number}", attempt_feedback.text(kernel, best, best)]
    if best.number > 0:
        parts.append(_fenced(best.candidate.standalone_source(), "cuda"))
    if last.number != best.number:
        parts += ["## The last attempt", attempt_feedback.text(kernel, last, best)]
        if last.proposal.candidate is not None:
            parts.append(_fenced(last.candidate.standalone_source(), "cuda"))
    left = max(1, allowance.iterations - len(attempts) + 1)
    parts.append(f"{_wish(last)} {left} of {allowance.iterations} attempts are left, this one included.")
    return "\n\n".join(parts)


def _wish(last: Attempt) -> str:
    if last.number > 0 and not last.evaluation.accepted:
        return "The last attempt is not right. Repair it, or propose something else if that is not worth it."
    return "Propose the next version."


def _parameter(parameter: Parameter) -> str:
    shape = f"[{', '.join(str(extent) for extent in parameter.shape)}]" if parameter.is_array else ""
    types = " or ".join(parameter.cuda_types)
    return f"- {parameter.name}: {parameter.role.value} {parameter.dtype.name}{shape}; in C++ {types}"


def _accepted(kernel: Kernel, output: Parameter) -> str:
    """Say what an output is judged by, with expressions as they were declared."""
    if kernel.accept is not None:
        return f"- {output.name}: what the declaration's accept= accepts"
    if output.exact:
        return f"- {output.name}: the reference's bits"
    own, dtype = output.judging.tolerance, output.dtype
    shared = kernel.tolerance if dtype.is_float else Tolerance()
    rtol, atol = (0.0, 0.0) if own.ulp is not None else (dtype.rtol, dtype.atol)
    rtol_text = _first(own.rtol, shared.rtol, rtol)
    atol_text = _first(own.atol, shared.atol, atol)
    ulp = "" if own.ulp is None else f", or {own.ulp:g} ulp if that is more"
    return f"- {output.name}: |got - expected| <= {atol_text} + ({rtol_text}) * |expected|{ulp}"


def _first(own: FloatExpression | None, shared: FloatExpression | None, default: float) -> str:
    given = shared if own is None else own
    return f"{default:g}" if given is None else str(given)


def _case(kernel: Kernel, number: int) -> str:
    case = kernel.cases[number]
    measured = f", measured, weight {case.weight:g}" if case.measure else ""
    return f"- {kernel.case_ids[number]}: {', '.join(f'{n}={v}' for n, v in case.sizes)}{measured}"


def _fenced(text: str, language: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"

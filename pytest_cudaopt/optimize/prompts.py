"""The words a model gets. What stays the same in a run comes first, so that servers can cache it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize import attempt_feedback, describe, memory
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
the geometric mean over the measured cases; no measured case may get slower by more than the allowed share.

Rules for a proposal:
- `source` is the whole file. Keep the kernel's name, its parameters, their types and their order.
- No host code. Only headers that NVRTC has: cuda_fp16.h, cuda_bf16.h, mma.h, cooperative_groups.h, cub/...,
  cuda/std/...
- The launch rule is an expression over the sizes and the tunables, so that it holds for sizes nobody listed:
  + - * / // % (integers), comparisons, and, or, not, cdiv(a, b), align_up(a, b), min, max, next_pow2(a),
  where(condition, a, b). A grid of 0 blocks launches nothing.
- Tunables are compile-time integers; settings that satisfy `tune_where` are tried before the best is judged.
- One launch, no memory that outlives it, no writes to inputs. Outputs hold garbage before the launch, unless
  the parameter is an InOut.
- Do not lower the precision of the computation. Do not use what a timed launch cannot need: caching results,
  recognising sizes or values.

If an attempt failed, find out why before you try something else. Prefer one change that you can explain."""


def brief(kernel: Kernel, start: str, limits: Limits) -> str:
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
        "## Device",
        f"{limits.name}, {limits.architecture}: {limits.multiprocessors} multiprocessors, "
        f"{limits.max_threads_per_block} threads and {limits.max_shared_bytes} bytes of shared memory "
        "per block",
        "## The kernel to start from",
        _fenced(start, "cuda"),
    ]
    return "\n\n".join(part for part in parts if part)


def _obligations(kernel: Kernel) -> str:
    bound = [f"- {one}: {one.meaning}" for one in Property if kernel.obligations.binds(one)]
    free = sorted(kernel.obligations.ignored)
    return "\n".join(
        [
            "Wherever the kernel to start from is right, beyond the cases too, a version must be right:",
            *bound,
            *([f"Not needed: {', '.join(free)}."] if free else []),
        ]
    )


def situation(kernel: Kernel, attempts: Sequence[Attempt], best: Attempt) -> str:
    """Return what changes: what was tried, the best so far, how the last attempt ended."""
    last = attempts[-1]
    parts = ["## Tried so far", memory.summary(attempts)]
    parts += [f"## The best so far: attempt {best.number}", attempt_feedback.text(kernel, best, best)]
    if best.number > 0:
        parts.append(_fenced(best.candidate.standalone_source(), "cuda"))
    if last.number != best.number:
        parts += ["## The last attempt", attempt_feedback.text(kernel, last, best)]
        if last.proposal.candidate is not None:
            parts.append(_fenced(last.candidate.standalone_source(), "cuda"))
    parts.append(_wish(last))
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

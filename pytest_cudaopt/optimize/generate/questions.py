"""The words around the forms of a described kernel."""

from __future__ import annotations

import json
from typing import Any

INSTRUCTIONS = """\
You declare a CUDA kernel that somebody described in a sentence or two, so that it can be checked and made
faster. One part is asked for at a time, and each is checked before the next. Where the description leaves
something open, take what a library of numerical kernels would do, and say so in `description`. Answer in
the form that is asked for and with nothing else.

Rules for parameters: sizes are integers (i32), arrays are row-major and dense, outputs come after inputs,
sizes and scalars last. Shapes are expressions over sizes: + - * // %, cdiv(a, b), min, max. One launch
computes everything.

Rules for a reference: one function, named as the kernel. It takes arrays, sizes and scalars by the
parameters' names, gets float arrays as float64, must not change its inputs, and returns its outputs (an
array, or a tuple in the order of the parameters). NumPy and math only: it runs where there are no files,
no network and no other modules. It is meant to be right and easy to read, whatever it costs.

Rules for the first kernel: CUDA C++ that NVRTC compiles (no host code, no #include but cuda_fp16.h,
cuda_bf16.h, mma.h), `extern "C" __global__ void NAME(...)` with the parameters in order, `const` for
inputs. It must be right for every size, also 0, 1 and no multiple of anything. Plain and right comes
first: it is made faster afterwards. The launch rule is made of expressions over sizes and tunables:
grid=(cdiv(n, 256)) block=(256)."""

_SPECIFY = """\
# The description

{description}

Declare the kernel: its parameters, what its inputs hold, its cases, how exact its outputs can be."""

_REFERENCE = """\
# The description

{description}

# The declaration

```json
{signature}
```

Write the reference."""

_SECOND = """\
# The description

{description}

# The declaration

```json
{signature}
```

Write a reference of your own, from the description alone, in the plainest way you can think of (loops are
fine), and say what must hold of any right implementation."""

_KERNEL = """\
# The description

{description}

# The declaration

```json
{signature}
```

The parameters in C++, in this order: {parameters}

# The reference

```python
{reference}
```

Write the first kernel. `hypothesis` and `expected_effect` may be empty, tunables too."""

_AGAIN = """\
That does not do:

{objection}

Answer with the whole form again."""


def specify(description: str) -> str:
    return _SPECIFY.format(description=description)


def reference(description: str, signature: dict[str, Any]) -> str:
    return _REFERENCE.format(description=description, signature=_json(signature))


def second_opinion(description: str, signature: dict[str, Any]) -> str:
    return _SECOND.format(description=description, signature=_json(signature))


def first_kernel(description: str, signature: dict[str, Any], parameters: str, source: str) -> str:
    return _KERNEL.format(
        description=description, signature=_json(signature), parameters=parameters, reference=source.rstrip()
    )


def answered(text: str) -> str:
    """Return what a model is reminded of, where its server keeps nothing."""
    return f"Your answer was:\n\n{text}"


def again(objection: str) -> str:
    """Return what is said after an answer that was checked and found wanting."""
    return _AGAIN.format(objection=objection)


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2)

"""Cross entropy with targets to ignore, and a second output for the backward pass."""

import numpy as np

from pytest_cudaopt import In, Out, Scalar, bf16, case, f32, i32, indices, kernel, normal, product

IGNORED = -100


@kernel(
    "csrc/cross_entropy.cu",
    include=["csrc/include"],
    cases=[*product(rows=[1, 20], classes=[1, 10, 513]), case(rows=32, classes=8000, measure=True)],
    # Logits of about 10 leave a difference of the order of one float unit in their last place.
    atol=1e-5,
)
def cross_entropy(
    logits=In(bf16, "rows", "classes", values=normal(0, 4)),
    targets=In(i32, "rows", values=indices("classes", skip=IGNORED, share=0.2)),
    losses=Out(f32, "rows"),
    log_sums=Out(f32, "rows"),
    ignored=Scalar(i32, IGNORED),
    rows=i32,
    classes=i32,
):
    """Return minus the log of the target's probability, or 0 if ignored, and log(sum(exp(logits)))."""
    largest = logits.max(axis=1)
    log_sums[...] = largest + np.log(np.exp(logits - largest[:, None]).sum(axis=1))
    of_target = logits[np.arange(rows), np.where(targets == ignored, 0, targets)]
    losses[...] = np.where(targets == ignored, 0, log_sums - of_target)

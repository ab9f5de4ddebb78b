"""Writing keys and values to the slots of an 8-bit cache, most of which keep what they hold."""

from pytest_cudaopt import (
    In,
    Out,
    bf16,
    case,
    f8e4m3,
    f32,
    i32,
    i64,
    indices,
    kernel,
    normal,
    product,
    uniform,
)


@kernel(
    "csrc/kv_cache_write.cu",
    sizes=["tokens", "slots"],
    where=["tokens <= slots"],
    domain={"tokens": (1, 512), "slots": (1, 2048), "heads": (1, 32), "head_dim": (1, 256)},
    cases=[
        case(tokens=1, slots=1, heads=1, head_dim=1),
        *product(tokens=[3, 16], slots=16, heads=2, head_dim=[24, 64]),
        case(tokens=64, slots=256, heads=4, head_dim=64, measure=True),
    ],
)
def kv_cache_write(
    # Some values lie beyond 448, the largest that the cache holds: they saturate.
    keys=In(bf16, "tokens", "heads", "head_dim", values=normal(0, 150)),
    values=In(bf16, "tokens", "heads", "head_dim"),
    slot_mapping=In(i64, "tokens", values=indices("slots", unique=True, skip=-1, share=0.3)),
    key_scales=In(f32, "heads", values=uniform(0.5, 2)),
    value_scales=In(f32, "heads", values=uniform(0.01, 0.1)),
    # A quotient rounded to float may fall on the other side of the middle between two neighbours.
    key_cache=Out(f8e4m3, "slots", "heads", "head_dim", unwritten="kept", ulp=1),
    value_cache=Out(f8e4m3, "slots", "heads", "head_dim", unwritten="kept", ulp=1),
    heads=i32,
    head_dim=i32,
):
    """Put every token that has a slot there, divided by its head's scale."""
    has_slot = slot_mapping >= 0
    slots = slot_mapping[has_slot]
    key_cache[slots] = keys[has_slot] / key_scales[:, None]
    value_cache[slots] = values[has_slot] / value_scales[:, None]

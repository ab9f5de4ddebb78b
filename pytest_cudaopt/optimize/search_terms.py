"""Words of questions and documents, made comparable: pure.

Both go through here, so whatever syntax a question has never reaches the index.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z]+\d*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_METRIC = re.compile(r"\b[a-z]\w*__\w+")
# Of a question.
_MOST_CHARACTERS = 20_000
_MOST_WORDS = 400
# Words of every sentence, and of every counter's name.
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be by can for from has have how in is it its kernel me my not of on one or over
        so that the their them there this to too was what when where which why will with
        active avg average cycle elapsed max min mem op pct peak per pipe ratio second sm smsp sum sustained
        tex ltex lts inst executed issue sass pred""",
    )
)
# What profilers, our model and people call a thing, and names of pages for it. Each name is one phrase: its
# words alone are on most pages.
_OTHER_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"load.efficiency|store.efficiency|sectors?.{0,5}per.{0,5}request", ("uncoalesced access",)),
    (r"load_sectors|store_sectors|bytes_per_sector|array of struct", ("uncoalesced access",)),
    (r"coalesc|\bgather|non.?contiguous|column.?major", ("uncoalesced access",)),
    (r"(?:threads?|lanes?).{0,20}(?:far apart|own row)|neighbou?ring (?:threads|lanes)", ("strided access",)),
    (r"\bscattered", ("scattered access",)),
    (r"bank.?conflict|\bwavefronts?\b|mio.?throttle|short.?scoreboard", ("shared wavefronts",)),
    (r"limit(?:ed)?.?(?:by)?.?registers|limit_registers|registers per thread", ("register pressure",)),
    (r"(?:register.{0,30}|too many values.{0,30})(?:usage|resident|occupancy|fit)", ("register pressure",)),
    (r"limit(?:ed)?.?(?:by)?.?shared|limit_shared|dynamic shared", ("shared memory per block too large",)),
    (
        r"(?:smem|shared.memory).{0,40}(?:per.block|occupancy|resident)",
        ("shared memory per block too large",),
    ),
    (r"(?:occupancy|block takes|block fills).{0,40}shared.mem", ("shared memory per block too large",)),
    (r"diverge|threads_uniform|inst_executed_per_inst|lane_instructions", ("warp divergence",)),
    (r"lanes.{0,60}(?:differ|sides?|idle)|control flow|threads per warp", ("warp divergence",)),
    (r"(?:differ\w*|different).{0,40}lanes|branch_resolving", ("branch divergence",)),
    (r"bound\W+launch|launch.bound(?!s)|launch (?:overhead|latency)", ("launch bound", "launch overhead")),
    (r"too few blocks|small grid|grid_size|only (?:has )?\d+ blocks|tiny", ("small grid", "too few blocks")),
    (r"bound\W+fp32|fp32|pipe_fma|ffma|\bfma\b|compute.bound|\bflops?\b", ("FMA pipe", "compute bound")),
    (r"multiply.?add|math.?pipe.?throttle|arithmetic unit", ("math pipe throttle", "FMA pipe")),
    (r"bound\W+l2\b|lts__|\bl2\b|second.level cache", ("L2 bandwidth", "L2 bound")),
    (r"fetch\w* the same|read\w* .{0,30}again", ("repeated reads",)),
    (r"local_requests|op_local|mem_local|local memory", ("local memory traffic",)),
    (r"spill|stack_bytes|stack frame|private to (?:the|a|each) thread", ("spill stores", "stack frame")),
    (r"\btail\b|last wave|partial wave|waves_per_multi", ("tail", "partial wave")),
    (r"straggl|imbalance|max_block_inst|blocks.{0,30}longer", ("load imbalance",)),
    (r"bound\W+lsu\b|lg.?throttle", ("sectors per request", "shared wavefronts")),
    (r"bound\W+dram|dram__|\bhbm\b|device memory|memory.(?:bound|bandwidth)", ("bandwidth bound",)),
    (r"bound\W+latency|long.?scoreboard|wait\w* for (?:loads|memory|global)", ("latency bound",)),
    (r"bound\W+blocks|block launch rate", ("block launch rate",)),
    (r"bound\W+issue", ("work per thread", "instruction-level parallelism")),
    (r"fp64|dfma|\bdouble", ("FP64 pipe",)),
    (r"bound\W+special|pipe_xu|mufu|transcendental|\bexpf?\b", ("transcendental",)),
    (r"bound\W+integer|pipe_alu|modulo|division|address (?:arith|comp)", ("integer bound",)),
    (r"bound\W+tensor|pipe_tensor|hmma|wgmma", ("tensor core",)),
    (r"bound\W+atomics|\batom(?:ic)?s?\b|op_red|histogram", ("atomic contention",)),
    (r"stalled_barrier|syncthreads|\bbarriers?\b", ("stall barrier", "synchronisation overhead")),
    (r"(?:huge|large|long) k\b|skinny|few outputs", ("skinny matrix",)),
)
PHRASES = tuple(dict.fromkeys(name for _, names in _OTHER_NAMES for name in names))


def words(text: str) -> list[str]:
    """Return the words of a text in order: lower case, without endings, parts of identifiers apart."""
    found = (word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text.replace("_", " "))))
    return [_stem(word) for word in found if word not in _EMPTY and len(word) > 1]


def metrics(text: str) -> list[str]:
    """Return counters' names as single words, without their units."""
    return [name.replace("_", "").partition(".")[0] for name in _METRIC.findall(text.lower())]


def indexed(text: str) -> str:
    """Return a text as the index has it."""
    return " ".join([*words(text), *metrics(text)])


def asked(text: str) -> list[str]:
    """Return the words of a question, and as phrases the names that pages have for what it is about."""
    text = text[:_MOST_CHARACTERS]
    lowered = text.lower()
    names = (name for pattern, names in _OTHER_NAMES if re.search(pattern, lowered) for name in names)
    said = [*words(text), *metrics(text)][:_MOST_WORDS]
    return [*said, *(" ".join(words(name)) for name in dict.fromkeys(names))]


def _stem(word: str) -> str:
    for ending, least in (("ing", 4), ("ies", 3), ("ied", 3), ("ed", 4), ("es", 4), ("s", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            return word[: -len(ending)]
    return word

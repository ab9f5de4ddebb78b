"""Values of options as texts: how each kind is read, and what is wrong with a text that cannot be."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any

# Text to value; raises ValueError whose text is what was expected.
Reader = Callable[[str], Any]
Writer = Callable[[Any], str]
DEVICE_SELECTOR = re.compile(r"^(auto|sim|cuda:\d+)$")
_WORDS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
BASELINE_MODES = ("check", "update", "update-new", "off")
REQUIREMENTS = ("gpu", "baseline", "verdict")
REPORT_SUFFIXES = (".md", ".html")


def switch(text: str) -> bool:
    """Read a yes or no."""
    if text.lower() not in _WORDS:
        raise ValueError("true or false")
    return _WORDS[text.lower()]


def whole(least: int) -> Reader:
    """Return a reader of whole numbers of at least `least`."""

    def read(text: str) -> int:
        if not re.fullmatch(r"\d+", text) or int(text) < least:
            raise ValueError(f"a whole number of at least {least}")
        return int(text)

    return read


def seed(text: str) -> int:
    """Read a whole number; `random` gives one that nobody has chosen."""
    if text == "random":
        return secrets.randbelow(1 << 32)
    if not re.fullmatch(r"\d+", text):
        raise ValueError("a whole number, or random")
    return int(text)


def seconds(text: str) -> float:
    """Read a duration above 0."""
    if not re.fullmatch(r"\d+(\.\d+)?s?", text) or float(text.removesuffix("s")) == 0:
        raise ValueError("seconds greater than 0, such as 60 or 0.5")
    return float(text.removesuffix("s"))


def percent(text: str) -> float:
    """Read a percentage as a share: 2 is 0.02."""
    if not re.fullmatch(r"\d+(\.\d+)?%?", text):
        raise ValueError("a percentage of at least 0, such as 2 or 0.5%")
    return float(text.removesuffix("%")) / 100


def percent_text(share: float) -> str:
    """Write a share so that `percent` reads it."""
    return f"{100 * share:g}"


def sim_gate(text: str) -> str:
    """Read what a modelled regression does."""
    if text not in ("off", "warn", "fail"):
        raise ValueError("one of off, warn, fail")
    return text


def device(text: str) -> str:
    """Read a device selector."""
    if not DEVICE_SELECTOR.match(text):
        raise ValueError("auto, sim or cuda:N")
    return text


def model(text: str) -> str:
    """Read a proposer's name: auto, offline, replay:FILE, files:FOLDER, or that of a language model."""
    kind, colon, rest = text.partition(":")
    if not text or (kind in ("replay", "files") and colon and not rest):
        raise ValueError("auto, offline, replay:FILE, files:FOLDER or a language model's name")
    return text


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


def effort(text: str) -> str:
    """Read how long a model may think."""
    if text not in EFFORTS:
        raise ValueError(f"one of {', '.join(EFFORTS)}")
    return text


SANDBOXES = ("auto", "bubblewrap", "landlock", "off")


def sandbox(text: str) -> str:
    """Read what stands around Python that a model wrote."""
    if text not in SANDBOXES:
        raise ValueError(f"one of {', '.join(SANDBOXES)}")
    return text


APIS = ("auto", "responses", "chat", "plain")


def api(text: str) -> str:
    """Read how a model's server is spoken to."""
    if text not in APIS:
        raise ValueError(f"one of {', '.join(APIS)}")
    return text


STRATEGIES = ("loop", "single")


def strategy(text: str) -> str:
    """Read how a language model is asked."""
    if text not in STRATEGIES:
        raise ValueError(f"one of {', '.join(STRATEGIES)}")
    return text


def baseline(text: str) -> str:
    """Read what becomes of baselines."""
    if text not in BASELINE_MODES:
        raise ValueError(f"one of {', '.join(BASELINE_MODES)}")
    return text


def limit(text: str) -> int | None:
    """Read a bound of at least 1; 0 is none."""
    if not re.fullmatch(r"\d+", text):
        raise ValueError("a whole number, 0 for no limit")
    return int(text) or None


def limit_text(bound: int | None) -> str:
    """Write a bound so that `limit` reads it."""
    return str(bound or 0)


def duration_limit(text: str) -> float | None:
    """Read a number of seconds; 0 is no limit."""
    if not re.fullmatch(r"\d+(\.\d+)?s?", text):
        raise ValueError("seconds, 0 for no limit")
    return float(text.removesuffix("s")) or None


def duration_limit_text(bound: float | None) -> str:
    """Write a bound so that `duration_limit` reads it."""
    return f"{bound or 0:g}"


def clock(text: str) -> str:
    """Read a time of day; an empty text is none."""
    if text and not re.fullmatch(r"([01]?\d|2[0-3]):[0-5]\d", text):
        raise ValueError("a time of day such as 07:00")
    return text


def search(text: str) -> tuple[int, int]:
    """Read a search as incumbents and proposals for each: greedy is 1 and 1, beam:2x2 is 2 and 2."""
    if text == "greedy":
        return (1, 1)
    beam = re.fullmatch(r"beam(?::([1-9])x([1-9]))?", text)
    if beam is None:
        raise ValueError("greedy, beam or beam:WxB (incumbents x proposals, each 1 to 9)")
    return (int(beam[1] or 2), int(beam[2] or 2))


def search_text(search: tuple[int, int]) -> str:
    """Write a search so that `search` reads it."""
    width, proposals = search
    return "greedy" if search == (1, 1) else f"beam:{width}x{proposals}"


def requirements(text: str) -> frozenset[str]:
    """Read a list of requirements."""
    words = frozenset(word.strip() for word in text.split(",") if word.strip())
    if words - set(REQUIREMENTS):
        raise ValueError(f"a comma-separated list of {', '.join(REQUIREMENTS)}")
    return words


def requirements_text(required: frozenset[str]) -> str:
    """Write requirements so that `requirements` reads them."""
    return ",".join(word for word in REQUIREMENTS if word in required)


def span_limit(text: str) -> float | None:
    """Read a time span in seconds; a text with `m` is in minutes, 0 is no limit."""
    if not re.fullmatch(r"\d+(\.\d+)?[sm]?", text):
        raise ValueError("seconds or minutes, such as 300s or 5m, 0 for no limit")
    return float(text.rstrip("sm")) * (60 if text.endswith("m") else 1) or None


def report_file(text: str) -> str:
    """Read the name of a report, whose suffix says what it is; an empty text is none."""
    if text and not text.lower().endswith(REPORT_SUFFIXES):
        raise ValueError(f"a file name that ends in {' or '.join(REPORT_SUFFIXES)}")
    return text


def folder(text: str) -> str:
    """Read a path that is not empty."""
    if not text:
        raise ValueError("a folder")
    return text


def words(text: str) -> tuple[str, ...]:
    """Read a list of texts, separated by commas or lines."""
    return tuple(word.strip() for word in re.split(r"[,\n]", text) if word.strip())


def words_text(listed: tuple[str, ...]) -> str:
    """Write texts so that `words` reads them."""
    return ",".join(listed)


def text(text: str) -> str:
    """Read a text as it is."""
    return text

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
REQUIREMENTS = ("gpu",)


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


def device(text: str) -> str:
    """Read a device selector."""
    if not DEVICE_SELECTOR.match(text):
        raise ValueError("auto, sim or cuda:N")
    return text


def model(text: str) -> str:
    """Read a proposer's name."""
    if text != "offline":
        raise ValueError("offline, the only proposer of this version (language models come later)")
    return text


def requirements(text: str) -> frozenset[str]:
    """Read a list of requirements."""
    words = frozenset(word.strip() for word in text.split(",") if word.strip())
    if words - set(REQUIREMENTS):
        raise ValueError(f"a comma-separated list of {', '.join(REQUIREMENTS)}")
    return words


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

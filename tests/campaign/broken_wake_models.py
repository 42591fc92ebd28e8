"""Mistakes that people make in the ``wake`` part of a campaign file.

Each case is like those of ``broken.py``: a wrong file, and the words that the message must have.
"""

from __future__ import annotations

from tests.campaign.broken import Broken
from tests.campaign.examples import SMALL

_STEPS = "method:\n  - smart-start: {grid_size: 18, random_pct: 30}\n  - gradient\n"


def _wake(text: str, *words: str) -> Broken:
    old = "wake: nygaard-2022\n"
    assert SMALL.count(old) == 1
    return Broken(SMALL.replace(old, f"wake: {text}\n"), words)


def _wake_and_method(text: str, method: str, *words: str) -> Broken:
    assert SMALL.count(_STEPS) == 1
    return Broken(SMALL.replace(_STEPS, method).replace("wake: nygaard-2022\n", f"wake: {text}\n"), words)


BROKEN_WAKE_MODELS: dict[str, Broken] = {
    "induction that does not exist": _wake(
        "{jensen: {induction: mom1d}}",
        "wake.jensen.induction",
        "'madsen' or 'momentum'",
        "got 'mom1d'",
        ":32:",
    ),
    "parameters in a list": _wake(
        "{jensen: [1]}", "wake.jensen: must be a mapping (got [1]); write key: value lines"
    ),
    "one parameter without its name": _wake("{jensen: 0.1}", "wake.jensen: must be a mapping (got 0.1)"),
    "induction as a number": _wake("{jensen: {induction: 0.3}}", "wake.jensen.induction", "got 0.3"),
    "induction left empty": _wake("{jensen: {induction: }}", "wake.jensen.induction", "'momentum'"),
    "induction of a model without one": _wake(
        "{iea37: {induction: momentum}}", "wake.iea37.induction", "is not a known key"
    ),
    "rotor in American spelling": _wake(
        "{jensen: {rotor: center}}", "wake.jensen.rotor", "'overlap' or 'centre'", "got 'center'"
    ),
    "rotor misspelt": _wake("{jensen: {rotr: centre}}", "wake.jensen.rotr", "did you mean 'rotor'?"),
    "rotor beside the model": _wake("{jensen: {}, rotor: centre}", "wake.rotor", "is not a known key"),
    "rotor of turbopark": _wake(
        "{turbopark-2020: {rotor: [centre]}}", "wake.turbopark-2020.rotor", "got ['centre']"
    ),
    "turbopark without expansion": _wake("{turbopark-2020: {a: 0}}", "wake.turbopark-2020.a", "got 0"),
    "turbopark of a year that has none": _wake("turbopark-2022", "turbopark-2022", "turbopark-2020"),
    "growth of a gauss that is negative": _wake(
        "{bastankhah-2016: {kb: -0.01}}", "wake.bastankhah-2016.kb", "got -0.01"
    ),
    "growth of a gauss by another model's name": _wake(
        "{bastankhah-2016: {k: 0.03}}", "wake.bastankhah-2016.k", "is not a known key"
    ),
    "core of a gauss as text": _wake(
        '{bastankhah-2016: {alpha: "0.58"}}', "wake.bastankhah-2016.alpha", "got '0.58'"
    ),
    "thrust of a wind that does not exist": _wake(
        "{top-hat: {thrust_of: wake}}", "wake.top-hat.thrust_of", "'free' or 'local'", "got 'wake'"
    ),
    "a superposition that composed wakes do not have": _wake(
        "{gaussian: {superposition: max}}",
        "wake.gaussian.superposition",
        "'linear' or 'squares'",
        "got 'max'",
    ),
    "a part of the other shape": _wake(
        "{top-hat: {cut_sigmas: 2}}", "wake.top-hat.cut_sigmas", "is not a known key", "thrust_of"
    ),
    "a width of nothing": _wake("{gaussian: {ceps: 0}}", "wake.gaussian.ceps", "greater than 0", "got 0"),
    "a wake that ends at once": _wake(
        "{gaussian: {cut_sigmas: 0}}", "wake.gaussian.cut_sigmas", "greater than 0", "got 0"
    ),
    "two composed wakes": _wake("{gaussian: {}, top-hat: {}}", "wake", "gaussian", "top-hat"),
    "blockage with the thrust of the free wind": _wake(
        "{top-hat: {thrust_of: free}, blockage: self-similar-2020}",
        "wake.blockage",
        "is computed with the thrust in the local wind only",
        "leave out thrust_of: free",
    ),
    "turbulence of cumulative-curl that is not known": _wake_and_method(
        "{cumulative-curl: {turbulence: frandsen}}",
        "method: smart-start\n",
        "wake.cumulative-curl.turbulence",
        "'crespo-hernandez' or 'none'",
        "got 'frandsen'",
    ),
    "gradient with a model that has none": _wake(
        "cumulative-curl",
        "method[1]",
        "needs a gradient, which the wake model cumulative-curl does not have",
        "got 'gradient'",
        "use random-search or annealing",
    ),
    "gradient after annealing with a model that has none": _wake_and_method(
        "{cumulative-curl: {}, blockage: self-similar-2020}",
        "method: [smart-start, annealing, gradient]\n",
        "method[2]",
        "needs a gradient",
        "got 'gradient'",
    ),
    "blockage without a year": _wake(
        "{jensen: {}, blockage: self-similar}", "wake.blockage", "'self-similar-2020'", "got 'self-similar'"
    ),
    "blockage as a flag": _wake("{jensen: {}, blockage: true}", "wake.blockage", "'self-similar-2020'"),
    "blockage left empty": _wake(
        "{jensen: {}, blockage: }",
        "wake.blockage",
        "is empty",
        "give self-similar-2020, or leave the key out",
    ),
    "blockage inside the model": _wake(
        "{jensen: {blockage: self-similar-2020}}", "wake.jensen.blockage", "is not a known key"
    ),
    "blockage without wakes": _wake("{blockage: self-similar-2020}", "wake", "is missing", "cumulative-curl"),
    "blockage with two wake models": _wake(
        "{jensen: {}, iea37: {}, blockage: self-similar-2020}", "iea37 and jensen", "exclude each other"
    ),
    "blockage misspelt": _wake(
        "{jensen: {}, blokage: self-similar-2020}", "wake.blokage", "did you mean 'blockage'?"
    ),
}

"""Rule sets by name and in KataGo's notation, for `kata-get-rules` and friends."""

import json
from typing import Any

from alphago_jax.go import Rules

PRESETS = {
    "tromp-taylor": Rules.tromp_taylor(),
    "cgos": Rules.cgos(),
    "chinese": Rules.chinese(),
    "chinese-kgs": Rules.chinese(ko="positional"),
    "japanese": Rules.japanese(),
    "korean": Rules.korean(),
    "aga": Rules.aga(),
    "new-zealand": Rules.new_zealand(),
}
_TEXT = {
    "ko": {text.upper(): text for text in ("simple", "positional", "situational")},
    "scoring": {text.upper(): text for text in ("area", "territory")},
    "tax": {text.upper(): text for text in ("none", "seki", "all")},
    "whiteHandicapBonus": {"0": "zero", "N-1": "n-1", "N": "n"},
}
_FIELDS = {
    "ko": "ko",
    "scoring": "scoring",
    "tax": "tax",
    "suicide": "suicide",
    "multiStoneSuicideLegal": "suicide",
    "hasButton": "button",
    "friendlyPassOk": "friendly_pass",
    "whiteHandicapBonus": "handicap_bonus",
}


def preset(name: str) -> Rules:
    """A rule set by name; case and underscores do not matter.

    Raises:
      ValueError: there is no such rule set; the message lists those there are.
    """
    key = name.lower().replace("_", "-").replace(" ", "-")
    if key not in PRESETS:
        raise ValueError(f"no rules {name!r}; there are: {', '.join(PRESETS)}")
    return PRESETS[key]


def to_text(rules: Rules) -> str:
    """The rules as KataGo writes them, a JSON object in one line; komi is apart."""
    values: dict[str, Any] = {}
    for key, field in _FIELDS.items():
        value = getattr(rules, field)
        words = {own: text for text, own in _TEXT.get(key, {}).items()}
        values[key] = words.get(value, value)
    # An alias, which KataGo reads but does not write.
    del values["multiStoneSuicideLegal"]
    return json.dumps(values, sort_keys=True)


def from_text(text: str, rules: Rules) -> Rules:
    """Rules from a preset's name or from KataGo's JSON object.

    Args:
      text: "chinese" or `{"ko": "SIMPLE", "suicide": false}`.
      rules: give komi, and what the object leaves out.

    Raises:
      ValueError: for unknown names, keys or values.
    """
    if not text.lstrip().startswith("{"):
        return preset(text.strip()).replace(komi=rules.komi)
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ValueError(f"not a JSON object: {error}") from error
    for key, value in values.items():
        rules = with_switch(rules, key, value)
    return rules


def with_switch(rules: Rules, key: str, value: Any) -> Rules:
    """Changes one switch, by KataGo's key and value.

    Args:
      rules: the rules so far.
      key: such as "ko" or "hasButton".
      value: as JSON has it, or its text.

    Raises:
      ValueError: for an unknown key or value.
    """
    if key not in _FIELDS:
        raise ValueError(f"no rule {key!r}; there are: {', '.join(_FIELDS)}")
    if key in _TEXT:
        choices = _TEXT[key]
        if str(value).upper() not in choices:
            raise ValueError(f"{key} must be one of {', '.join(choices)}")
        return rules.replace(**{_FIELDS[key]: choices[str(value).upper()]})
    flags = {"true": True, "false": False}
    if str(value).lower() not in flags:
        raise ValueError(f"{key} must be true or false")
    return rules.replace(**{_FIELDS[key]: flags[str(value).lower()]})

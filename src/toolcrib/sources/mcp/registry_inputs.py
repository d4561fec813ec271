"""The inputs of a `server.json`: arguments, variables and headers, and what fills them in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from toolcrib.errors import ConfigError
from toolcrib.text import printable

Object: TypeAlias = Mapping[str, Any]
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


@dataclass(frozen=True, slots=True)
class RegistryInput:
    """One input. `key` is the name by which a person gives its value."""

    key: str
    description: str = ""
    default: str = ""
    choices: tuple[str, ...] = ()
    is_secret: bool = False


class RegistryInputs:
    """Fills inputs with the values that were given, and notes what is missing."""

    def __init__(self, where: str, values: Mapping[str, str]) -> None:
        self._where = where
        self._values = values
        self._known: set[str] = set()
        self.missing: dict[str, RegistryInput] = {}
        self.secrets: dict[str, RegistryInput] = {}
        self.written: list[str] = []

    def variables(self, listed: Sequence[Object]) -> tuple[dict[str, str], dict[str, str]]:
        """The variables with a value, and those that are filled from ours."""
        env: dict[str, str] = {}
        handed_on: dict[str, str] = {}
        for each in listed:
            name = self._name(each, "environmentVariables")
            if (
                each.get("isSecret") is True
                and name not in self._values
                and not text_of(each, "value")
            ):
                self._known.add(name)
                if _is_required(each):
                    handed_on[name] = name
                    self.secrets[name] = input_of(name, each)
            elif (value := self._filled(each, name, may_refer=True)) is not None:
                env[name] = value
        return env, handed_on

    def headers(self, listed: Sequence[Object]) -> dict[str, str]:
        filled: dict[str, str] = {}
        for each in listed:
            name = self._name(each, "headers")
            value = self._filled(each, name, may_refer=True)
            if value is not None:
                filled[name] = value
        return filled

    def arguments(self, listed: Sequence[Object]) -> list[str]:
        """The words of a command line. No reference is expanded there: a secret has to be given."""
        words: list[str] = []
        for each in listed:
            flag = text_of(each, "name") if each.get("type") == "named" else ""
            key = (
                flag.lstrip("-")
                or text_of(each, "valueHint")
                or text_of(each, "value")
                or "argument"
            )
            bare = flag and not any(k in each for k in ("value", "default", "isRequired", "format"))
            if bare and key not in self._values:
                words.append(flag)
                continue
            value = self._filled(each, key, may_refer=False)
            if value is not None:
                words += [flag, value] if flag else [value]
        return words

    def template(
        self, key: str, text: str, variables: Mapping[str, Object], *, may_refer: bool = True
    ) -> str | None:
        """A published text with its `{variables}` filled in; None if one is missing.

        Raises `ConfigError` if more than what is filled in refers to variables of ours.
        """
        found: dict[str, str] = {}
        names = _VARIABLE.findall(text)
        for name in dict.fromkeys(names):
            if name in variables:
                value = self._filled(variables[name], name, may_refer=may_refer, required=True)
                if value is None:
                    return None
                found[name] = value
        filled = _VARIABLE.sub(lambda each: found.get(each[1], each[0]), text)
        if filled.count("${") > sum(found.get(name, "").count("${") for name in names):
            raise ConfigError(
                f"{self._where}: it is published with a reference to a variable of yours in"
                f" {key!r}: {printable(text)!r:.200}; do not add it, or write its entry yourself:"
                " `toolcrib add --help`"
            )
        return filled

    def refuse_unknown(self) -> None:
        unknown = sorted(self._values.keys() - self._known)
        if unknown:
            known = ", ".join(sorted(self._known)) or "nothing"
            raise ConfigError(f"{self._where}: wants no {unknown[0]!r}; it wants: {known}")

    def _filled(
        self, each: Object, key: str, *, may_refer: bool, required: bool = False
    ) -> str | None:
        self._known.add(key)
        if key in self._values:
            return self._checked(each, key, self._values[key])
        if text := text_of(each, "value"):
            return self.template(key, text, inner(each, "variables"), may_refer=may_refer)
        if each.get("isSecret") is True and may_refer and (required or _is_required(each)):
            name = re.sub(r"[^A-Z0-9]+", "_", key.upper()).strip("_") or "SECRET"
            self.secrets[name] = input_of(name, each)
            return "${" + name + "}"
        if text := text_of(each, "default"):
            return self.template(key, text, {})
        if required or each.get("isRequired") is True:
            self.missing[key] = input_of(key, each)
        return None

    def _checked(self, each: Object, key: str, value: str) -> str:
        if each.get("isSecret") is True and "${" not in value:
            self.written.append(key)
        choices = input_of(key, each).choices
        if choices and value not in choices:
            raise ConfigError(f"{key!r} has to be one of {', '.join(choices)}, not {value!r}")
        return value

    def _name(self, each: Object, key: str) -> str:
        name = text_of(each, "name")
        if not name or any(sign.isspace() or sign in "=\0" for sign in name):
            raise ConfigError(f"{self._where}: `{key}` has one without a usable `name`")
        return name


def _is_required(each: Object) -> bool:
    return each.get("isRequired") is True


def input_of(key: str, each: Object) -> RegistryInput:
    choices = each.get("choices")
    listed = tuple(map(str, cast("list[Any]", choices))) if isinstance(choices, list) else ()
    secret = each.get("isSecret") is True
    return RegistryInput(
        key, text_of(each, "description"), text_of(each, "default"), listed, secret
    )


def as_object(value: object, where: str) -> Object:
    if not isinstance(value, dict):
        raise ConfigError(f"{where}: has to be an object; correct it")
    return cast("Object", value)


def inner(value: Object, key: str) -> Mapping[str, Object]:
    inner = value.get(key)
    return dict(_objects(cast("dict[str, Any]", inner))) if isinstance(inner, dict) else {}


def _objects(values: Mapping[str, Any]) -> Iterator[tuple[str, Object]]:
    for name, each in values.items():
        if isinstance(each, dict):
            yield name, cast("Object", each)


def listed_in(value: Object, key: str, where: str) -> list[Object]:
    listed = value.get(key)
    if listed is None:
        return []
    if not isinstance(listed, list):
        raise ConfigError(f"{where}: `{key}` has to be a list; correct it")
    return [as_object(each, f"{where}: {key}") for each in cast("list[Any]", listed)]


def text_of(value: Object, key: str) -> str:
    text = value.get(key)
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        return ""
    return str(text)

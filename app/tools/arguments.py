"""Checks a call's arguments against the tool's input schema, for the part of JSON Schema that the tools use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.core.messages import JsonObject
from app.errors import ToolError

_WHOLE = re.compile(r"-?\d{1,15}")
_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


def checked(schema: JsonObject, arguments: JsonObject) -> dict[str, Any]:
    """Return the arguments with unmistakable slips repaired: ``"5"`` for 5, ``5.0`` for 5, ``"true"`` for true.

    Arguments that are null are taken as not given.

    Raises:
        ToolError: One is missing, unknown or of the wrong type; the message names it.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    return _object(schema, given, "")


def _object(schema: JsonObject, given: Mapping[str, Any], where: str) -> dict[str, Any]:
    properties: Mapping[str, JsonObject] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in given:
            raise ToolError(f"missing argument '{where}{name}'")
    for name in given:
        if name not in properties:
            allowed = ", ".join(properties) or "none"
            raise ToolError(f"unknown argument '{where}{name}'; allowed: {allowed}")
    return {name: _value(properties[name], value, where + name) for name, value in given.items()}


def _value(schema: JsonObject, value: Any, where: str) -> Any:
    kind = schema.get("type", "string")
    value = _repaired(kind, value)
    if not _is(kind, value):
        raise ToolError(f"argument '{where}' must be {_NAMES[kind]}, not {_name(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise ToolError(f"argument '{where}' must be one of {', '.join(schema['enum'])}")
    if "minimum" in schema and value < schema["minimum"]:
        raise ToolError(f"argument '{where}' must be at least {schema['minimum']}")
    if kind == "array":
        return [_value(schema["items"], item, f"{where}[{at}]") for at, item in enumerate(value)]
    if kind == "object":
        return _object(schema, value, f"{where}.")
    return value


def _repaired(kind: str, value: Any) -> Any:
    if kind in ("integer", "number") and isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    return value


def _is(kind: str, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list | tuple)
        case _:
            return isinstance(value, Mapping)


def _name(value: Any) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "a list"
        case None:
            return "null"
        case _:
            return "an object"

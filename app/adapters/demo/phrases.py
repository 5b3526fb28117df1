"""Paths, folders, commands and quotations in a sentence of a person."""

from __future__ import annotations

import re

SUFFIXES = {
    "python": ".py",
    "markdown": ".md",
    "javascript": ".js",
    "typescript": ".ts",
    "rust": ".rs",
    "golang": ".go",
    "go": ".go",
    "java": ".java",
    "ruby": ".rb",
    "yaml": ".yaml",
    "json": ".json",
    "toml": ".toml",
    "css": ".css",
    "html": ".html",
    "shell": ".sh",
    "text": ".txt",
    "c++": ".cpp",
    "c": ".c",
}
_BARE_NAMES = "makefile dockerfile readme license changelog procfile gemfile jenkinsfile justfile"
BARE_NAMES = frozenset(_BARE_NAMES.split())
"""File names without an ending."""
_PROGRAMS = (
    "ls git pytest python python3 pip uv npm npx node yarn pnpm cargo rustc go make cat head tail wc grep rg find pwd "
    "echo tree du df date whoami uname env which diff sort uniq sed awk touch mkdir rm mv cp chmod ruff mypy black tox "
    "nox cmake ctest java mvn gradle ruby bundle php composer docker curl ps seq bash sh printf file stat true false "
    "sleep cut tr tee jq"
)
PROGRAMS = frozenset(_PROGRAMS.split())
"""Words that begin a command when they begin a sentence."""
_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”|「([^」]+)」|'([^']+)'")
_FENCE = re.compile(r"^```[^\n]*\n(.*?)\n?```$", re.S)
_CJK = re.compile("[\u3400-\u9fff]")
_PATH = re.compile(
    r"(?<![A-Za-z0-9_~.@+-])[A-Za-z0-9_~.@+-]*(?:[/\\][A-Za-z0-9_.@+-]+)+/?|(?<![A-Za-z0-9_@+.-])\.?[A-Za-z0-9_@+-]+(?:\.[A-Za-z0-9_@+-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?![A-Za-z0-9_])|(?<!\S)\.[A-Za-z][A-Za-z0-9_.-]+"
)
_LATIN_ABBREVIATIONS = frozenset({"e.g", "i.e", "etc.", "vs."})


def has_cjk(text: str) -> bool:
    """Whether Chinese characters stand in it."""
    return _CJK.search(text) is not None


def unquote(text: str) -> str:
    """Return the text without the quotation marks or the code fence around the whole of it."""
    text = text.strip()
    fenced = _FENCE.match(text)
    if fenced:
        return fenced[1]
    for opening, closing in ("``", '""', "''", "“”", "「」"):
        if len(text) > 1 and text[0] == opening and text[-1] == closing:
            return text[1:-1]
    return text


def any_quoted(text: str) -> tuple[str, ...]:
    """Return all quotations in it."""
    return tuple(next(part for part in found if part) for found in _QUOTED.findall(text))


def paths_in(text: str) -> tuple[str, ...]:
    """Return what looks like files or folders in it, in order and each once."""
    found = [q for q in any_quoted(text) if "/" in q or "." in q or q.lower() in BARE_NAMES]
    rest = _QUOTED.sub(" ", text)
    found += [m.group().rstrip(".,") for m in _PATH.finditer(rest)]
    found += [
        w for w in re.findall(r"[A-Za-z]+", rest) if w.lower() in BARE_NAMES and (w[0].isupper())
    ]
    kept = [
        p
        for p in found
        if p.lower() not in _LATIN_ABBREVIATIONS and "://" not in p and p.strip("./")
    ]
    inside = [p for p in kept if not any(p != q and p in q for q in kept)]
    return tuple(dict.fromkeys(inside))


def folder_in(text: str) -> str:
    """Return the folder that a request names; "." for the project folder."""
    name = r"(?P<name>`[^`]+`|\"[^\"]+\"|'[^']+'|[A-Za-z0-9_./-]+)"
    forms = (
        rf"\b(?:in|under|inside|within|of|from)\s+(?:the\s+)?(?:folder|directory|dir)\s+{name}",
        rf"\b(?:in|under|inside|within|of|from)\s+(?:the\s+)?{name}\s+(?:folder|directory|dir|package)\b",
        rf"{name}\s*(?:目录|文件夹|路径)",
        r"\b(?:in|under|inside|within|of|from)\s+(?:the\s+)?(?P<name>[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_-]+)+)(?![\w./])",
        r"(?P<name>(?<![\w./-])[A-Za-z0-9_.-][A-Za-z0-9_./-]*/)(?![\w.])",
    )
    for form in forms:
        found = re.search(form, text, re.I)
        if found:
            folder = unquote(found["name"]).rstrip("/") or "."
            if folder.lower() not in (
                "this",
                "the",
                "our",
                "current",
                "project",
                "same",
                "whole",
                "root",
            ):
                return folder
    return "."


def suffix_in(text: str) -> str:
    """Return the ending of the wanted files; "" for any."""
    explicit = re.search(r"\*(\.[A-Za-z0-9]+)", text) or re.search(
        r"(?<![\w/])(\.[A-Za-z0-9]+)\s+(?:files|文件)", text
    )
    if explicit:
        return explicit[1]
    low = text.lower()
    for word, suffix in SUFFIXES.items():
        if re.search(
            rf"(?<![a-z.]){re.escape(word)}\s*(?:source |code |源)?\s*(?:files?|modules?|scripts?|文件|代码|脚本|源码)",
            low,
        ):
            return suffix
    return ""


def commands_in(text: str) -> str:
    """Return the shell command that a request asks to run; "" when it asks for none."""
    text = text.strip()
    bare = re.sub(r"^[$!]\s*", "", text)
    if bare != text or _is_command(bare):
        return bare
    forms = (
        r"^(?:please |can you |could you |now |let's |let us )*(?:run|execute|exec|try)\s+(?:the\s+)?(?:shell\s+)?"
        r"(?:command\s*[:：]?\s*)?(?P<cmd>.+?)(?:\s+(?:command|please|for me))*\s*$",
        r"^(?:请|帮我|麻烦)*(?:执行|运行|跑)(?:一下|下)?\s*(?:命令)?\s*[:：]?\s*(?P<cmd>.+?)\s*(?:这个|这条)?(?:命令|指令)?[。！]?$",
        r"^(?:请|帮我|麻烦)*(?:查看|看|检查|显示)(?:一下|下)?\s*(?P<look>.+?)\s*(?:的)?(?:结果|输出|状态|命令)?[。！？]?$",
        r"^(?:please |can you |could you )*(?:show|check|see|look at|view|what does|what is)\s+(?:me\s+)?(?:the\s+)?"
        r"(?:output of\s+)?(?P<look>.+?)(?:\s+(?:say|output|command|please|now))*[?.!]?\s*$",
    )
    for form in forms:
        found = re.match(form, text, re.I | re.S)
        if not found:
            continue
        groups = found.groupdict()
        wanted = unquote(groups.get("cmd") or groups.get("look") or "")
        if "cmd" in groups and not has_cjk(wanted) and wanted:
            return wanted
        if _is_command(wanted):
            return wanted
    return ""


def _is_command(text: str) -> bool:
    """Whether the words are a command on their own: they begin with a program and hold no prose."""
    words = text.split()
    if not words or "\n" in text or words[0] not in PROGRAMS or has_cjk(text):
        return False
    prose = {
        "the",
        "a",
        "an",
        "for",
        "me",
        "please",
        "what",
        "is",
        "and",
        "it",
        "all",
        "every",
        "where",
    }
    options = any(w.startswith("-") or set(w) & set("|>*=$./&") for w in words[1:])
    return options or not prose & {w.lower() for w in words[1:]}

"""What a plain request wants, in English or Chinese, told by its keywords and not by literal sentences."""

from __future__ import annotations

import re
from collections.abc import Callable

from app.adapters.demo.phrases import (
    commands_in,
    folder_in,
    paths_in,
    suffix_in,
    unquote,
)
from app.adapters.demo.wishes import Kind, Wish

UNDERSTOOD_CHARS = 500
"""How much of a request is looked at; only the content of a new file may be longer."""


def understand(text: str) -> Wish:
    """Return what a request wants; `Kind.OTHER` when that is not clear."""
    text = text.strip()
    start = text[:UNDERSTOOD_CHARS]
    low = " ".join(start.lower().split())
    for recognise in _RECOGNISERS:
        wish = recognise(text if recognise is _create else start, low)
        if wish is not None:
            is_cut = len(text) > UNDERSTOOD_CHARS and wish.kind in _EXACT
            return Wish(Kind.OTHER, text) if is_cut else wish
    return Wish(Kind.OTHER, text)


def understand_all(text: str) -> tuple[Wish, ...]:
    """Return the wishes of a request in order: "read a.py and then run the tests" has two."""
    whole = understand(text)
    if whole.kind in _WHOLE or "\n" in text.strip() or len(text) > UNDERSTOOD_CHARS:
        return (whole,)
    parts = [part for part in _THEN.split(text) if part.strip()]
    wishes = tuple(understand(part) for part in parts)
    known = all(w.kind not in (Kind.OTHER, Kind.GREETING, Kind.CONTINUE) for w in wishes)
    return wishes if len(wishes) > 1 and known else (whole,)


_THEN = re.compile(
    r"(?:[,;，；。]\s*|\s+)(?:and then|then|after that|然后|接着)[,，]?\s*|；|;\s+", re.I
)
_READ = r"\b(?:read|reading|review|go through|walk through|look (?:at|through)|open)\b"
_READ_ZH = r"(?:读|看|阅读|浏览)"
_COMPACTION = r"(?:compact|compress)"


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.I) is not None


def _tour(text: str, low: str) -> Wish | None:
    word = low.strip(" .!/！。")
    asked = _has(r"^(?:please )?(?:give|show|take|start|run|begin)\b.{0,20}\btour$", word)
    if (
        word in ("tour", "the tour", "demo tour", "tour please", "导览", "演示", "演示一下")
        or asked
    ):
        return Wish(Kind.TOUR, text)
    return None


def _reply_ok(text: str, low: str) -> Wish | None:
    return (
        Wish(Kind.REPLY_OK) if _has(r"^(?:reply|answer|respond|say)\b.{0,30}\bok\b", low) else None
    )


def _review(text: str, low: str) -> Wish | None:
    asks = _has(r"\b(?:what|which|where|list|summari[sz]e|recap|tell me)\b", low)
    past = _has(
        r"\b(?:(?:have|did|'ve) (?:we|you|i)|(?:we|you|we've|you've) (?:have )?(?:just )?"
        r"(?:read|changed?|edited|done|did|looked|touched|modified))\b",
        low,
    )
    what = _has(r"\b(?:read|chang\w*|edit\w*|do|done|so far|touch\w*|modif\w*|look\w*)\b", low)
    here = _has(r"^(?:so )?where (?:are|were) we\b", low)
    zh = _has(
        r"(?:读|看|改|做|修改)(?:过|了|到).{0,6}(?:哪|什么|多少)|哪些文件.{0,4}(?:读|看|改)", low
    ) or _has(r"(?:哪一步|进度|到哪)", low)
    return Wish(Kind.REVIEW, text) if (asks and past and what) or here or zh else None


def _next_feature(text: str, low: str) -> Wish | None:
    done = _has(
        r"\b(?:feature|task|part|step|phase|first|one)\b.{0,30}\b(?:done|finished|complete[d]?|ready|works)\b"
        r"|\b(?:finished|completed|done with)\b.{0,30}\b(?:feature|task|part|step|phase|first)\b",
        low,
    )
    onward = _has(r"\b(?:start|begin|move on|go on|next|second|now (?:the|to))\b", low)
    zh = _has(r"(?:完成|做完|搞定|结束)", low) and _has(r"(?:第二|第三|下一|开始)", low)
    return Wish(Kind.NEXT_FEATURE, text) if (done and onward) or zh else None


def _read_until(text: str, low: str) -> Wish | None:
    until = _has(r"\b(?:until|till|so that)\b.*" + _COMPACTION, low) or _has(
        r"(?:直到|到|为止).*压缩|压缩.*为止", low
    )
    reads = _has(_READ + r"|\b(?:keep|continue|go on)\b", low) or _has(_READ_ZH, low)
    return Wish(Kind.READ_UNTIL, text, folder=folder_in(text)) if until and reads else None


def _read_all(text: str, low: str) -> Wish | None:
    reads = _has(_READ + r"|\bshow\b", low)
    many = _has(r"\b(?:every|all|each|one by one|one after)\b", low) and _has(
        r"\bfiles?\b|\b(?:folder|directory|project)\b|\*\.", low
    )
    zh_reads = _has(_READ_ZH, low)
    zh_many = _has(r"所有|每个|每一个|全部|逐个|逐一|一个一个|一个个|挨个|依次", low)
    if not (reads and many) and not (zh_reads and zh_many):
        return None
    return Wish(Kind.READ_ALL, text, folder=folder_in(text), suffix=suffix_in(text))


def _compact(text: str, low: str) -> Wish | None:
    if not _has(
        rf"\b{_COMPACTION}(?:ion|ing)?\b|summari[sz]e (?:the|this|our) (?:conversation|history)",
        low,
    ):
        if "压缩" not in low:
            return None
    elif _has(r"\b(?:what|why|how|when|which|does|did|is|are)\b", low) or paths_in(text):
        return None
    focus = re.search(
        r"(?:focus(?:ing|ed)? (?:on|is)|about|keeping|but keep|and keep|focus\s*[:=]|重点(?:是|放在|关注)?|关注|保留)"
        r"\s*[:：]?\s*(.+)$",
        text,
        re.I | re.S,
    )
    return Wish(Kind.COMPACT, unquote(focus.group(1).rstrip(" .。!！")) if focus else "")


def _run_tests(text: str, low: str) -> Wish | None:
    word = low.strip(" .!?。！")
    en = _has(
        r"\b(?:run|execute|try|start|do|check)\b.{0,24}\b(?:tests|test suite|unit tests?|test)$",
        word,
    )
    asks = _has(
        r"\b(?:do|are|did)\b.{0,20}\btests?\b.{0,12}\b(?:pass|passing|green|fail\w*)$", word
    )
    zh = _has(r"(?:跑|运行|执行|做).{0,6}(?:测试|单测)", low)
    return (
        Wish(Kind.RUN_TESTS, text)
        if en or asks or zh or word in ("test", "tests", "测试")
        else None
    )


def _replace(text: str, low: str) -> Wish | None:
    item = r"(?:`[^`]+`|\"[^\"]+\"|'[^']+'|“[^”]+”|「[^」]+」|\S+(?:[ \t]+\S+)*?)"
    forms = (
        rf"\bin\s+(?P<file>\S+?)[,:]?\s+(?:please\s+)?(?:replace|change|rename)\s+(?P<old>{item})\s+(?:with|by|to|into)\s+(?P<new>{item})\s*[.!]?$",
        rf"\b(?:replace|change|rename)\s+(?P<old>{item})\s+(?:with|by|to|into)\s+(?P<new>{item})\s+in\s+(?:the\s+)?(?:file\s+)?(?P<file>\S+?)[.!]?$",
        rf"(?:把|将|在)\s*(?P<file>`[^`]+`|[A-Za-z0-9_./~-]+\.[A-Za-z0-9]+)\s*(?:文件)?(?:中|里|里面)?的?\s*(?P<old>{item})\s*(?:替换|改|换)(?:成|为)\s*(?P<new>{item})\s*。?$",
    )
    for form in forms:
        found = re.search(form, text, re.I | re.S)
        if found and paths_in(found["file"]):
            path = paths_in(found["file"])[0]
            return Wish(
                Kind.REPLACE, paths=(path,), old=unquote(found["old"]), new=unquote(found["new"])
            )
    return None


def _create(text: str, low: str) -> Wish | None:
    form = re.search(
        r"(?:\b(?:create|write|make|add)\b|创建|新建|写)[^\n`]{0,24}?(?:\bfile\b|文件)?\s*(?:called|named|叫|名为)?\s*"
        r"(?P<file>`[^`]+`|[A-Za-z0-9_./-]+\.[A-Za-z0-9]+|[A-Za-z0-9_-]+/[A-Za-z0-9_./-]+)"
        r"\s*[,，]?\s*(?:(?:that )?(?:with|containing|contains|saying|holding|says)\b"
        r"(?: the (?:text|content|contents)\b)?"
        r"|内容(?:为|是)?|写入|写上)\s*[:：]?\s*(?P<content>.+)$",
        text,
        re.I | re.S,
    )
    if not form:
        return None
    content = unquote(form["content"].strip())
    return Wish(
        Kind.CREATE, content + ("" if content.endswith("\n") else "\n"), (unquote(form["file"]),)
    )


def _undo(text: str, low: str) -> Wish | None:
    asked = _has(r"\b(?:undo|revert|take back|roll back)\b", low) or _has(r"撤销|还原|回退", low)
    return Wish(Kind.UNDO, text) if asked else None


def _todo(text: str, low: str) -> Wish | None:
    if not _has(r"\bto-?do\b|待办", low):
        return None
    found = re.search(r"[:：]\s*(.+)$", text, re.S)
    return Wish(Kind.TODO, found.group(1)) if found else None


def _recall(text: str, low: str) -> Wish | None:
    found = re.search(r"(?:\brecall\b|取回|找回).*?\b([rm]\d+)\b", low)
    return Wish(Kind.RECALL, found.group(1)) if found else None


def _run(text: str, low: str) -> Wish | None:
    commands = commands_in(text)
    return Wish(Kind.RUN, commands) if commands else None


def _search(text: str, low: str) -> Wish | None:
    form = re.search(
        r"(?:\b(?:search(?: the \w+)?(?: for)?|grep(?: for)?|look for|find(?: where)?|where (?:is|are|do we|does))\s+"
        r"|(?:搜索|搜一下|查找|搜|找一下|找找|哪里(?:用|定义)了?)(?:一下)?\s*)(?P<what>.+?)[?？.。]?$",
        text.strip(),
        re.I | re.S,
    )
    if not form or _has(r"^(?:all |every |the )?(?:\S+ )?(?:files|文件)\b", form["what"]):
        return None
    what, folder = form["what"], "."
    place = re.search(
        r"\s+(?:in|under|within)\s+(?:the\s+)?(\S+?)(?:\s+(?:folder|directory|files?))?$", what
    )
    if place:
        what = what[: place.start()]
        folder = folder_in(text) if folder_in(text) != "." else next(iter(paths_in(place[1])), ".")
    what = re.sub(r"\s+(?:is )?(?:defined|used|called|declared|mentioned)$", "", what, flags=re.I)
    what = re.sub(
        r"^(?:the )?(?:word|text|string|function|class|关键字|关键词)\s+", "", what, flags=re.I
    )
    return Wish(Kind.SEARCH, unquote(what.strip()), folder=folder)


def _list(text: str, low: str) -> Wish | None:
    en = _has(
        r"\b(?:list|show|find|see|what|which)\b.{0,24}\b(?:files?|folders?|director(?:y|ies)|tree|structure)\b",
        low,
    )
    zh = _has(r"列出|有哪些文件|有什么文件|目录结构|文件列表|项目结构|看看(?:项目|目录)", low)
    if not en and not zh and low.strip(" .") not in ("list", "files"):
        return None
    if paths_in(text) and not _has(r"\b(?:folder|directory|files)\b|目录|文件夹|列出", low):
        return None
    return Wish(Kind.LIST, text, folder=folder_in(text), suffix=suffix_in(text))


def _read(text: str, low: str) -> Wish | None:
    asked = _has(
        _READ
        + r"|\b(?:show|cat|view|print|display|see|check|explain|describe|summari[sz]e|what(?:'s| is) in)\b",
        low,
    ) or _has(r"读|看|打开|显示|解释|介绍", low)
    paths = paths_in(text)
    if not asked or not paths:
        return None
    span = re.search(r"(?:lines?|第)\s*(\d+)\s*(?:-|–|to|到|至)\s*(\d+)", low)
    first, last = (int(span[1]), int(span[2])) if span else (0, 0)
    return Wish(Kind.READ, text, tuple(paths), first=first, last=last)


def _continue(text: str, low: str) -> Wish | None:
    word = low.strip(" .!。！")
    known = (
        "continue",
        "go on",
        "keep going",
        "proceed",
        "resume",
        "继续",
        "接着做",
        "go ahead",
        "please continue",
    )
    return Wish(Kind.CONTINUE) if word in known else None


def _greeting(text: str, low: str) -> Wish | None:
    word = low.strip(" .!?。！？")
    hello = word in ("hi", "hello", "hey", "help", "你好", "帮助", "?") or _has(
        r"\b(?:who|what) are you\b|what can you do|你是谁|你能做什么|你会什么", low
    )
    return Wish(Kind.GREETING, text) if hello else None


_WHOLE = (
    Kind.TOUR,
    Kind.NEXT_FEATURE,
    Kind.REVIEW,
    Kind.READ_UNTIL,
    Kind.CREATE,
    Kind.REPLACE,
    Kind.TODO,
)
"""Kinds whose request is one wish, whatever words join its parts."""
_EXACT = (Kind.REPLACE, Kind.RUN, Kind.SEARCH, Kind.TODO)
"""Kinds that must never be done with only the start of what was asked."""
_RECOGNISERS: tuple[Callable[[str, str], Wish | None], ...] = (
    _tour,
    _reply_ok,
    _continue,
    _greeting,
    _recall,
    _create,
    _replace,
    _todo,
    _read_until,
    _next_feature,
    _review,
    _compact,
    _run_tests,
    _read_all,
    _run,
    _undo,
    _list,
    _search,
    _read,
)

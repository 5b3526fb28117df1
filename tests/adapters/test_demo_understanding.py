import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.demo.understanding import understand, understand_all
from app.adapters.demo.wishes import Kind, Wish

ONE = [
    (
        "Read every Python file in the src/ directory one by one",
        Kind.READ_ALL,
        {"folder": "src", "suffix": ".py"},
    ),
    (
        "please go through all markdown files under docs/",
        Kind.READ_ALL,
        {"folder": "docs", "suffix": ".md"},
    ),
    (
        "Read every Python file in this folder one by one",
        Kind.READ_ALL,
        {"folder": ".", "suffix": ".py"},
    ),
    (
        "把 src 目录下的所有 Python 文件一个一个读一遍",
        Kind.READ_ALL,
        {"folder": "src", "suffix": ".py"},
    ),
    (
        "Read every Python file in app/core one by one",
        Kind.READ_ALL,
        {"folder": "app/core", "suffix": ".py"},
    ),
    ("read all files", Kind.READ_ALL, {"folder": ".", "suffix": ""}),
    ("Keep reading files until compaction triggers", Kind.READ_UNTIL, {"folder": "."}),
    ("go on reading src/ till it gets compressed", Kind.READ_UNTIL, {"folder": "src"}),
    ("一直读文件直到触发压缩", Kind.READ_UNTIL, {}),
    ("Use the compact tool to manually compress the conversation", Kind.COMPACT, {"text": ""}),
    ("compact now, focus on the parser", Kind.COMPACT, {"text": "the parser"}),
    ("用 compact 工具手动压缩一下对话", Kind.COMPACT, {}),
    ("run the tests", Kind.RUN_TESTS, {}),
    ("Do the tests pass?", Kind.RUN_TESTS, {}),
    ("运行一下测试", Kind.RUN_TESTS, {}),
    ("run pytest -q tests/test_a.py", Kind.RUN, {"text": "pytest -q tests/test_a.py"}),
    ("what have we read so far?", Kind.REVIEW, {}),
    ("Which files have we read, and what did we change?", Kind.REVIEW, {}),
    ("我们刚才读过哪些文件？当前改到哪一步了？", Kind.REVIEW, {}),
    ("The first feature is done, let us start the second", Kind.NEXT_FEATURE, {}),
    ("Task 1 is finished. Begin the next one.", Kind.NEXT_FEATURE, {}),
    ("我们刚才完成了第一个功能，现在开始做第二个功能吧", Kind.NEXT_FEATURE, {}),
    ("读一下 config.yaml 文件", Kind.READ, {"paths": ("config.yaml",)}),
    ("读一下config.yaml文件", Kind.READ, {"paths": ("config.yaml",)}),
    ("read src/app.py lines 10-20", Kind.READ, {"paths": ("src/app.py",), "first": 10, "last": 20}),
    ("What is in config.yaml?", Kind.READ, {"paths": ("config.yaml",)}),
    ("show me the Makefile", Kind.READ, {"paths": ("Makefile",)}),
    ("执行一下 ls 命令", Kind.RUN, {"text": "ls"}),
    ("查看一下 git status", Kind.RUN, {"text": "git status"}),
    ("show me the git log", Kind.RUN, {"text": "git log"}),
    ("run `ls -la | head -3`", Kind.RUN, {"text": "ls -la | head -3"}),
    ("$ make all", Kind.RUN, {"text": "make all"}),
    ("search for def main", Kind.SEARCH, {"text": "def main"}),
    ("search for TODO in src/", Kind.SEARCH, {"text": "TODO", "folder": "src"}),
    ("where is parse_args defined?", Kind.SEARCH, {"text": "parse_args"}),
    ("搜索一下 main", Kind.SEARCH, {"text": "main"}),
    ("list the files in src/", Kind.LIST, {"folder": "src"}),
    ("列出所有文件", Kind.LIST, {}),
    (
        "create notes.md with hello world",
        Kind.CREATE,
        {"paths": ("notes.md",), "text": "hello world\n"},
    ),
    ("创建 a.txt 内容为 你好", Kind.CREATE, {"paths": ("a.txt",), "text": "你好\n"}),
    (
        "in a.py replace `foo bar` with `baz`",
        Kind.REPLACE,
        {"paths": ("a.py",), "old": "foo bar", "new": "baz"},
    ),
    (
        "in a.py replace class A: with class A:  # mine",
        Kind.REPLACE,
        {"paths": ("a.py",), "old": "class A:", "new": "class A:  # mine"},
    ),
    (
        "replace foo with bar in a.py",
        Kind.REPLACE,
        {"paths": ("a.py",), "old": "foo", "new": "bar"},
    ),
    ("把 a.py 里的 foo 改成 bar", Kind.REPLACE, {"paths": ("a.py",), "old": "foo", "new": "bar"}),
    ("undo that", Kind.UNDO, {}),
    ("撤销", Kind.UNDO, {}),
    ("recall r3", Kind.RECALL, {"text": "r3"}),
    ("todo: write it; test it", Kind.TODO, {"text": "write it; test it"}),
    ("tour", Kind.TOUR, {}),
    ("Give me the tour", Kind.TOUR, {}),
    ("导览", Kind.TOUR, {}),
    ("continue", Kind.CONTINUE, {}),
    ("继续", Kind.CONTINUE, {}),
    ("hello", Kind.GREETING, {}),
    ("你能做什么？", Kind.GREETING, {}),
    ("Reply OK.", Kind.REPLY_OK, {}),
    ("fix the bug in the parser", Kind.OTHER, {}),
    ("Does the summary compress well?", Kind.OTHER, {}),
    ("how does compaction work?", Kind.OTHER, {}),
]


@pytest.mark.parametrize(("text", "kind", "details"), ONE, ids=[case[0] for case in ONE])
def test_a_plain_request_is_understood(text, kind, details):
    wish = understand(text)
    assert wish.kind is kind
    assert {name: getattr(wish, name) for name in details} == details


@pytest.mark.parametrize(
    "text", [case[0] for case in ONE if case[1] not in (Kind.CREATE, Kind.TODO)]
)
def test_case_and_outer_blanks_change_nothing(text):
    assert understand(f"  {text}\n").kind is understand(text).kind


def test_wishes_joined_by_then_are_done_in_order():
    kinds = [
        wish.kind for wish in understand_all("read a.py, then run the tests and then list files")
    ]
    assert kinds == [Kind.READ, Kind.RUN_TESTS, Kind.LIST]


def test_what_is_not_understood_in_parts_stays_whole():
    assert [wish.kind for wish in understand_all("read a.py and then think about it")] == [
        Kind.READ
    ]


@given(st.text(max_size=300))
def test_any_text_is_understood_as_something(text):
    assert all(isinstance(wish, Wish) for wish in understand_all(text))


@pytest.mark.parametrize(
    "piece", ["replace the word a with b in x ", "x", "a.", "a/", "把这个改成 ", "read `"]
)
def test_a_very_long_request_is_looked_at_only_at_its_start(piece):
    long = piece * 20_000
    assert understand_all(long) == (understand(long),)


@pytest.mark.parametrize("text", ["run echo", "in a.py replace `x` with"])
def test_a_command_or_an_edit_is_never_made_from_a_part_of_it(text):
    assert understand(text + " word" * 300).kind is Kind.OTHER


def test_the_content_of_a_new_file_may_be_long():
    content = "line of text " * 500
    assert understand(f"create big.txt with {content}").text == content.strip() + "\n"

import pytest

from app.adapters.demo.summary import HEADINGS, summary_request, write_summary
from app.compaction.summary import HEADINGS as ASKED_HEADINGS
from app.compaction.summary import check_text, prompt
from app.core.tokens import estimate_text


def use(id_, name, **arguments):
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": id_, "name": name, "input": arguments}],
    }


def result(id_, text, **extra):
    return {"type": "tool_result", "tool_use_id": id_, "content": text, **extra}


def user(*blocks):
    return {
        "role": "user",
        "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks],
    }


HISTORY = [
    user("read a.py"),
    use("c1", "read_file", path="a.py"),
    user(result("c1", '1│"""Counts things."""\n2│\n3│def count(): ...')),
    use("c2", "bash", command="pytest -q"),
    user(result("c2", "1 failed\n[exit 1]")),
    use("c3", "edit_file", path="a.py", old_text="x", new_text="y"),
    user(result("c3", "edited a.py: 1 replacement")),
]


def ask(*messages, focus="", **sizes):
    words = prompt(aim=sizes.get("aim", 2_000), cap=4_000, focus=focus)
    *before, last = messages
    if last["role"] == "user":
        return {"messages": [*before, user(*last["content"], words)]}
    return {"messages": [*messages, user(words)]}


def summarise(*messages, **options):
    return write_summary(summary_request(ask(*messages, **options)))


def test_the_headings_are_the_ones_that_compaction_asks_for():
    assert HEADINGS == ASKED_HEADINGS


def test_a_summary_tells_what_was_read_run_and_changed():
    text = summarise(*HISTORY)
    assert check_text(text, cap=4_000, factor=1.0) == ""
    assert "`a.py` — 3 lines; “Counts things.”; defines count" in text
    assert "`pytest -q` -> exit 1" in text
    assert "edited: “x” -> “y”" in text
    assert "read a.py" in text


def test_a_request_that_is_being_worked_on_is_named():
    assert "In progress for the user: read a.py" in summarise(*HISTORY)
    done = {"role": "assistant", "content": [{"type": "text", "text": "done"}]}
    assert "nothing is in progress" in summarise(*HISTORY, done)


def test_the_focus_is_honoured():
    text = summarise(*HISTORY, focus="the counting in a.py")
    assert "Focus asked for: the counting in a.py" in text
    assert "For the focus: edit_file `a.py`" in text


def test_a_chinese_conversation_gets_chinese_notes_under_the_same_headings():
    text = summarise(user("读一下 a.py 文件"), *HISTORY[1:])
    assert check_text(text, cap=4_000, factor=1.0) == ""
    assert "用户要求：读一下 a.py 文件" in text


@pytest.mark.parametrize("aim", [400, 2_000])
def test_a_long_history_gets_a_summary_within_its_aim(aim):
    messages = [user("Read every Python file in this folder one by one")]
    for at in range(300):
        messages.append(use(f"c{at}", "read_file", path=f"src/module_{at}.py"))
        messages.append(user(result(f"c{at}", f'1│"""Module {at}."""\n' + "2│x = 1\n" * 200)))
    text = summarise(*messages, aim=aim)
    assert check_text(text, cap=4_000, factor=1.0) == ""
    assert estimate_text(text) <= aim
    assert "module_299" in text


def test_a_second_summary_keeps_what_the_first_one_knew():
    first = summarise(*HISTORY)
    head = f"[Conversation compressed. Transcript: t]\n\n# Notes\n\n{first}\n"
    text = summarise(
        user(head, "read b.py"), use("d1", "read_file", path="b.py"), user(result("d1", "1│y = 2"))
    )
    assert "Counts things" in text
    assert "The user asked: read a.py" in text
    assert "In progress for the user: read b.py" in text


def test_other_requests_ask_for_no_summary():
    assert summary_request({"messages": [user("What was accomplished?")]}) is None

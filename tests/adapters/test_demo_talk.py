import asyncio
import subprocess

import pytest

from app.core.reports import Layer
from tests.adapters.demo_desk import Desk, Nod, policy, write_project


async def test_reading_every_file_of_a_folder_reads_one_an_answer(tmp_path):
    names = write_project(tmp_path)
    async with Desk(tmp_path) as desk:
        said = await desk.say("Read every Python file in the src/ directory one by one")
        assert desk.targets("read_file") == names
        assert all(name in said for name in names)
        assert "Part 3 of the machine" in said


async def test_a_long_file_is_read_to_its_end_page_by_page(tmp_path):
    (tmp_path / "long.py").write_text(
        "\n".join(f"value_{n} = {n}  # line {n}" for n in range(2_500))
    )
    async with Desk(tmp_path) as desk:
        await desk.say("Read every Python file in this folder one by one")
        outcomes = [call.outcome for call in desk.calls("read_file")]
        assert len(outcomes) > 1
        assert outcomes[-1].endswith("-2,500 of 2,500")


async def test_an_empty_folder_has_nothing_to_read_and_the_answer_names_the_tour(tmp_path):
    async with Desk(tmp_path) as desk:
        said = await desk.say("Read every Python file in this folder one by one")
        assert "tour" in said
        assert desk.targets("read_file") == []


@pytest.mark.parametrize(
    "words", ["what have we read so far?", "我们刚才读过哪些文件？当前改到哪一步了？"]
)
async def test_what_was_read_and_changed_is_answered_from_the_view(tmp_path, words):
    write_project(tmp_path)
    async with Desk(tmp_path) as desk:
        await desk.say("read config.yaml")
        await desk.say("in config.yaml replace `speed: 3` with `speed: 4`")
        await desk.say("run touch made.txt")
        said = await desk.say(words)
        assert "`config.yaml`" in said
        assert "“speed: 3” -> “speed: 4”" in said
        assert "made.txt" in said
        assert ("我们" in said) == ("我们" in words)


async def test_chinese_requests_are_answered_in_chinese(tmp_path):
    write_project(tmp_path)
    async with Desk(tmp_path) as desk:
        said = await desk.say("读一下 config.yaml 文件")
        assert "speed: 3" in said
        said = await desk.say("执行一下 ls 命令")
        assert "README.md" in said and "退出码是 0" in said
        await asyncio.to_thread(subprocess.run, ["git", "init", "-q"], cwd=tmp_path, check=True)
        said = await desk.say("查看一下 git status")
        assert desk.targets("bash") == ["git status"]
        assert "README.md" in said


async def test_the_tests_of_a_project_are_found_and_run(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_one.py").write_text(
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(1, 2)\n"
    )
    (tmp_path / "tests" / "__init__.py").write_text("")
    async with Desk(tmp_path) as desk:
        said = await desk.say("run the tests")
        assert desk.targets("bash")[0] == "python3 -m pytest -q"
        assert "exit code 1" in said
        assert "test_it" in said


async def test_a_refused_call_is_reported_and_ends_nothing(tmp_path):
    async with Desk(tmp_path, user=Nod("bash")) as desk:
        await desk.say("run touch a.txt and then list files")
        assert "refused" in desk.calls("bash")[0].text
        assert "did not run" in str(desk.transport.bodies[-1]["messages"])
        assert len(desk.calls("list_files")) == 1


async def test_a_file_is_created_changed_and_changed_back(tmp_path):
    async with Desk(tmp_path) as desk:
        await desk.say("create notes.txt with one two one")
        assert (tmp_path / "notes.txt").read_text() == "one two one\n"
        await desk.say("in notes.txt replace one with three")
        assert (tmp_path / "notes.txt").read_text() == "three two three\n"
        await desk.say("in notes.txt replace two with four")
        said = await desk.say("undo that")
        assert (tmp_path / "notes.txt").read_text() == "three two three\n", said


async def test_a_search_shows_what_was_found(tmp_path):
    write_project(tmp_path)
    async with Desk(tmp_path) as desk:
        said = await desk.say("search for turn_3(")
        assert "src/part_3.py" in said


async def test_anything_else_gets_an_honest_introduction(tmp_path):
    async with Desk(tmp_path) as desk:
        said = await desk.say("please invent a better parser")
        assert "script" in said and "ANTHROPIC_API_KEY" in said
        said = await desk.say("请帮我发明一个解析器")
        assert "脚本" in said and "ANTHROPIC_API_KEY" in said


async def test_the_connection_check_is_answered(tmp_path):
    async with Desk(tmp_path) as desk:
        assert await desk.say("Reply OK.") == "OK"


async def test_go_on_takes_up_the_request_before_it(tmp_path):
    names = write_project(tmp_path, 3)
    async with Desk(tmp_path) as desk:
        await desk.say("Read every Python file in src/ one by one")
        said = await desk.say("continue")
        assert desk.calls("read_file") == []
        assert all(name in said for name in names)


async def test_reading_until_compaction_goes_on_by_itself_and_stops_after_it(tmp_path):
    write_project(tmp_path, 8, 150)
    async with Desk(tmp_path, policy(14_000)) as desk:
        said = await desk.say("Keep reading files until compaction triggers")
        assert desk.compactions(Layer.AUTO) == 1
        assert "Compaction has triggered" in said
        assert "src/part_0.py" in said
        said = await desk.say("Which files have we read, and what did we change?")
        assert "src/part_0.py" in said


async def test_reading_until_compaction_asked_twice_waits_for_the_second_one(tmp_path):
    write_project(tmp_path, 8, 150)
    async with Desk(tmp_path, policy(14_000)) as desk:
        await desk.say("Keep reading files until compaction triggers")
        await desk.say("Keep reading files until compaction triggers")
        assert desk.compactions(Layer.AUTO) == 1
        assert len(desk.calls("read_file")) > 1


async def test_reading_every_file_goes_on_after_a_compaction_without_reading_twice(tmp_path):
    names = write_project(tmp_path, 12, 150)
    async with Desk(tmp_path, policy(16_000)) as desk:
        said = await desk.say("Read every Python file in the src/ directory one by one")
        assert desk.compactions(Layer.AUTO) >= 1
        assert desk.targets("read_file") == names
        assert "12 of 12" in said


async def test_a_small_project_is_read_in_rounds_until_compaction(tmp_path):
    write_project(tmp_path, 2, 10)
    async with Desk(tmp_path, policy(12_000)) as desk:
        said = await desk.say("一直读文件直到触发压缩")
        assert desk.compactions(Layer.AUTO) == 1, said
        assert "压缩已经触发" in said


async def test_the_compact_tool_is_called_with_a_focus(tmp_path):
    write_project(tmp_path, 5, 150)
    async with Desk(tmp_path) as desk:
        await desk.say("Read every Python file in src/ one by one")
        said = await desk.say("Use the compact tool to manually compress the conversation")
        assert desk.compactions(Layer.MANUAL) == 1
        assert desk.targets("compact") == [
            "the work on src/part_4.py, src/part_3.py, src/part_2.py"
        ]
        assert "is compacted" in said


@pytest.mark.parametrize(
    "words",
    [
        "The first feature is done, let us start the second",
        "我们刚才完成了第一个功能，现在开始做第二个功能吧",
    ],
)
async def test_the_next_feature_begins_by_itself_after_a_compaction(tmp_path, words):
    write_project(tmp_path, 5, 150)
    async with Desk(tmp_path) as desk:
        await desk.say("Read every Python file in src/ one by one")
        await desk.say("in config.yaml replace `speed: 3` with `speed: 4`")
        await desk.say(words)
        assert desk.compactions(Layer.MANUAL) == 1
        assert [call.tool for call in desk.calls()] == ["compact", "list_files", "todo"]
        assert "config.yaml" in desk.targets("compact")[0]
        sent = str(desk.transport.bodies[-1]["messages"])
        assert "'old_text': 'speed: 3'" in sent, "the exchange of the focus is still verbatim"


async def test_files_that_commands_changed_are_named_after_a_compaction(tmp_path):
    write_project(tmp_path, 5, 150)
    (tmp_path / "make.py").write_text("open('made_by_script.txt', 'w').write('x')\n")
    async with Desk(tmp_path, policy(14_000)) as desk:
        await desk.say("run python3 make.py")
        await desk.say("Keep reading files until compaction triggers")
        said = await desk.say("Which files have we read, and what did we change?")
        assert "made_by_script.txt" in said
        assert "python3 make.py" in said


async def test_two_wishes_in_one_request_are_done_in_turn(tmp_path):
    write_project(tmp_path)
    async with Desk(tmp_path) as desk:
        said = await desk.say("read config.yaml and then run echo done")
        assert [call.tool for call in desk.calls()] == ["read_file", "bash"]
        assert "exit code 0" in said


async def test_files_named_together_are_read_side_by_side(tmp_path):
    write_project(tmp_path)
    async with Desk(tmp_path) as desk:
        said = await desk.say("read README.md and config.yaml")
        assert len(desk.transport.bodies) == 2
        assert "The machine" in said and "speed: 3" in said

"""Files after an ``@``: which the letters mean, and an index that never holds up the typing."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui.prompt.file_index import FRESH_SECONDS, STEP, FileIndex
from app.ui.prompt.fuzzy import best
from app.ui.prompt.mentions import Mention, mention_before, written

PATHS = (
    "README.md",
    "src/app/main.py",
    "src/app/domain.py",
    "src/app/main_window/view.py",
    "tests/test_main.py",
    "docs/Manual.md",
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("main", "src/app/main.py"),
        ("dom", "src/app/domain.py"),
        ("readme", "README.md"),
        ("Man", "docs/Manual.md"),
        ("tmain", "tests/test_main.py"),
        ("view", "src/app/main_window/view.py"),
        ("src dom", "src/app/domain.py"),
        ("", "README.md"),
    ],
)
def test_the_likeliest_file_comes_first(query, first):
    assert best(query, PATHS, 3)[0] == first


def test_a_capital_letter_asks_for_itself_and_nothing_fits_nothing():
    assert best("MAN", PATHS, 9) == []
    middle = ["src/_windows.py", "markdown.py", "docs/new.md", "src/docs_x.py"]
    assert set(best("do", middle, 2)) == {"docs/new.md", "src/docs_x.py"}
    assert best("zzz", PATHS, 9) == []


@given(st.text(max_size=8), st.lists(st.text(min_size=1, max_size=20), max_size=20, unique=True))
def test_all_that_is_found_holds_the_letters_in_order(query, paths):
    for path in best(query, paths, 50):
        for word in query.split():
            letters = iter(path if query != query.lower() else path.lower())
            assert word in path.lower() or all(c in letters for c in word) or not word.isascii()


@pytest.mark.parametrize(
    ("line", "mention"),
    [
        ("@", Mention(0, 1, "")),
        ("see @src/ma", Mention(4, 11, "src/ma")),
        ("(@a", Mention(1, 3, "a")),
        ('fix @"my fi', Mention(4, 11, "my fi")),
        ("me@example.org", None),
        ("@a b", None),
        ("no", None),
    ],
)
def test_a_mention_begins_at_the_beginning_of_a_word(line, mention):
    assert mention_before(line) == mention


def test_a_path_is_written_so_that_it_can_be_read_again():
    assert written("a.py") == "@a.py "
    assert written("src/") == "@src/"
    assert written("my file.py") == '@"my file.py" '
    assert mention_before(written("my dir/")) == Mention(0, 9, "my dir/")


def renewed(index):
    """Let an index read and wait until it did."""
    done = threading.Event()
    index.renew(lambda: None if index.is_reading else done.set())
    assert done.wait(10)


def test_an_index_knows_files_and_folders_but_not_what_git_ignores(tmp_path):
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "build").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    for name in ("src/deep/a.py", "build/a.py", "a.log", "b.txt"):
        (tmp_path / name).write_text("")
    index = FileIndex(tmp_path)
    renewed(index)
    assert set(index.search("", 20)) == {
        ".gitignore",
        "b.txt",
        "src/",
        "src/deep/",
        "src/deep/a.py",
    }


def test_an_index_reads_again_when_it_is_old_and_answers_meanwhile(tmp_path):
    now, rounds = [0.0], [["a.py"], ["a.py", "b.py"]]
    index = FileIndex(tmp_path, walk=lambda folder: rounds.pop(0), clock=lambda: now[0])
    renewed(index)
    index.renew(lambda: None)  # still fresh: the second round stays
    assert index.search("", 9) == ["a.py"]
    now[0] = FRESH_SECONDS
    renewed(index)
    assert index.search("", 9) == ["a.py", "b.py"]


def test_a_first_reading_shows_what_it_has_and_never_keeps_the_caller(tmp_path):
    go_on, told, ended = threading.Event(), threading.Event(), threading.Event()

    def walk(folder):
        yield from (f"f{n}" for n in range(STEP))
        assert go_on.wait(10)
        yield "last"

    index = FileIndex(tmp_path, walk=walk)
    index.renew(lambda: told.set() if index.is_reading else ended.set())
    assert told.wait(10)
    assert index.is_reading
    assert index.search("f4999", 1) == ["f4999"]
    go_on.set()
    assert ended.wait(10)
    assert index.search("last", 1) == ["last"]


def test_a_folder_that_cannot_be_read_leaves_an_empty_index(tmp_path):
    index = FileIndex(tmp_path / "gone")
    renewed(index)
    assert len(index) == 0

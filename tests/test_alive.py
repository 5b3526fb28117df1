import os
import subprocess
import sys

from app.alive import is_alive


def test_a_process_is_alive_until_it_was_waited_for():
    assert is_alive(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_alive(child.pid)
    child.communicate(b"\n")
    assert not is_alive(child.pid)
    assert not is_alive(2**70)

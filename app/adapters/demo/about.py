"""What the model says of itself: what it is, what it can do and how to get a real one."""

from __future__ import annotations

from app.adapters.demo.acts import Tongue


def about(t: Tongue, *, asked: bool) -> str:
    """Return the introduction; without ``asked`` it begins with an apology for not understanding."""
    sorry = "" if asked else t("I did not understand that. ", "这句话我没看懂。")
    return sorry + t(
        """\
I am the demo model: a script that runs inside this program, without a network and without any intelligence. I work \
with the real tools on your real files, and what I report is what they returned.

I understand plain requests, in English or Chinese, such as:

- `tour` — all three layers of compaction within a minute, in any folder, changing no file
- read every Python file in the src/ directory one by one
- keep reading files until compaction triggers
- use the compact tool to compress the conversation
- which files have we read, and what did we change?
- the first feature is done, let us start the second
- read FILE, list files, search for TEXT, run COMMAND, run the tests
- create FILE with TEXT, in FILE replace A with B, todo: one; two

For a real model, set `ANTHROPIC_API_KEY` and `MODEL_ID` (in the environment or in a `.env` file of this folder) and \
start `pal` again; `pal doctor` checks them.""",
        """\
我是演示模型：一段在本程序内部运行的脚本，不联网，也没有智能。我用真实的工具操作您真实的文件，报告的都是工具实际返回的内容。

我能听懂中文或英文的简单要求，例如：

- `tour` —— 一分钟内演示三层压缩，任何目录都可以，不改动文件
- 把 src 目录下的 Python 文件一个一个读一遍
- 一直读文件直到触发压缩
- 用 compact 工具手动压缩一下对话
- 我们刚才读过哪些文件？当前改到哪一步了？
- 我们刚才完成了第一个功能，现在开始做第二个功能吧
- 读一下 FILE、列出文件、搜索 TEXT、执行一下 ls 命令、运行一下测试
- 创建 FILE 内容为 TEXT、把 FILE 里的 A 改成 B、待办：一；二

要用真正的模型，请设置 `ANTHROPIC_API_KEY` 和 `MODEL_ID`（环境变量，或当前目录的 `.env` 文件），然后重新启动 `pal`；\
`pal doctor` 会检查它们。""",
    )

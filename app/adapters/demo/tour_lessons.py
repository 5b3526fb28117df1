"""What the tour tells while the budget fills: one lesson a step, in English and Chinese."""

from __future__ import annotations

LESSONS: tuple[tuple[str, str], ...] = (
    (
        "Layer 1 costs nothing to run: no model is asked. It never touches a result that the model has not "
        "seen yet, an error, or the call itself, so every call stays answered and the conversation stays "
        "valid. What it writes is one line with the tool, the target, the outcome and a recall id.",
        "第一层不需要调用模型。它从不动模型还没看过的结果、出错的结果，也不动调用本身，所以每个调用都有对应的回答，"
        "对话始终有效。它只写一行：工具、对象、结果和取回用的编号。",
    ),
    (
        "Nothing is lost. Two things are kept apart: the record on disk, which only ever grows, and the view, "
        "which is what the next request sends. The layers rewrite the view; the record keeps every message as "
        "it was said, under `.transcripts/`, and the chat above shows all of it.",
        "什么都不会丢。程序区分两样东西：磁盘上的记录只增不减；视图是下一次请求要发送的内容。三层压缩只改写视图，"
        "记录在 `.transcripts/` 里保留每一条原话，上面的聊天也完整可见。",
    ),
    (
        "The gauge shows one number: what the next request would be billed as input. It starts from what the "
        "endpoint reported last, minus what was cleared, plus an estimate of what came since; a `~` stands in "
        "front of it until it is measured again. The marks are the threshold of layer 2 and the model's "
        "window.",
        "预算条只显示一个数：下一次请求按输入计费的 token 数。它以接口上次报告的用量为基础，减去清理掉的，"
        "加上新增内容的估计；重新测量之前前面会有 `~`。两个刻度是第二层的阈值和模型的窗口。",
    ),
    (
        "Layer 2 works before a request leaves, also here in the middle of a loop. It saves the transcript, "
        "asks the model for a summary under six headings, and adds what only code can know for sure: the "
        "files changed and read, the commands with their exit codes, open errors, the todo list.",
        "第二层在请求发出之前工作，循环进行中也一样。它先保存 transcript，再请模型按六个标题写摘要，"
        "然后补上只有程序才能确定的事实：改过和读过的文件、命令及退出码、未解决的错误、待办列表。",
    ),
    (
        "Your own words do not depend on the summary: the latest request stands word for word in the new "
        "view, and earlier ones as far as the room goes. The newest exchange stays verbatim too, so the work "
        "goes on where it was, without a key press.",
        "您的原话不依赖摘要：最新的要求会逐字留在新视图里，更早的在空间允许时也保留。最近一轮往来同样原样保留，"
        "所以工作会从原处自动继续，不需要按键。",
    ),
    (
        "With a real model the layers also mind the prompt cache: clearing rewrites a cached prefix, so by "
        "default layer 1 waits until a batch pays for itself, and the log says why it holds. This tour uses "
        "the simple rule, every turn, so that you can watch it.",
        "用真正的模型时，各层还会顾及提示缓存：清理会改写已缓存的前缀，所以第一层默认等到一批清理划算时才动手，"
        "日志会说明等待的原因。为了便于观察，导览使用最简单的规则：每轮都清理。",
    ),
)


def lesson(number: int) -> tuple[str, str]:
    """Return a lesson in both languages, counted from 0; they begin again after the last."""
    return LESSONS[number % len(LESSONS)]

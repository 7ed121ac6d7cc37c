"""Bold and italic where words are not parted by spaces, and unchanged everywhere else."""

from __future__ import annotations

import pytest

from articles.markup.answer_rendering import Registered, render_answer


def html(text: str) -> str:
    return str(render_answer(text, Registered())).strip()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("まず**「設定」**を開きます。", "まず<strong>「設定」</strong>を開きます。"),
        ("请**小心：**不要删除。", "请<strong>小心：</strong>不要删除。"),
        ("点击*“保存”*按钮", "点击<em>“保存”</em>按钮"),
        ("**（注意）**を読む", "<strong>（注意）</strong>を読む"),
        ("설정에서 **[저장]**을 누릅니다", "설정에서 <strong>[저장]</strong>을 누릅니다"),
        ("打开**`设置`**页面", "打开<strong><code>设置</code></strong>页面"),
    ],
)
def test_punctuation_inside_does_not_keep_emphasis_from_being_one(text: str, shown: str) -> None:
    assert html(text) == f"<p>{shown}</p>"


@pytest.mark.parametrize(
    "text",
    [
        'a**"b"**c',
        "2 * 3 * 4",
        "请 ** 小心 ** 不要",
        "snake_「case」_名前",
        "**「設定」",
    ],
)
def test_what_is_no_emphasis_stays_as_it_is(text: str) -> None:
    assert "<strong>" not in html(text)
    assert "<em>" not in html(text)


def test_a_citation_behind_it_is_plain() -> None:
    assert html("请**小心：**不要删除。[1]").endswith("不要删除。[1]</p>")

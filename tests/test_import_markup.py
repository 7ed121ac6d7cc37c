"""MDX and HTML in Markdown become plain Markdown that the renderer shows."""

from __future__ import annotations

import time

import pytest

from articles.importing.mdx import to_markdown
from articles.importing.prose import code_ranges


def mdx(text: str) -> str:
    return to_markdown(text, is_mdx=True).text


def markdown(text: str) -> str:
    return to_markdown(text).text


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ('<img alt="Save" src="a.png" />', "![Save](a.png)"),
        ('<img src="a (1).png" alt="[x]">', r"![\[x\]](<a (1).png>)"),
        ('<img alt="No address">', "No address"),
        ('See <a href="/b">the <b>other</b> page</a>.', "See [the **other** page](/b)."),
        ('<a name="here"></a>Text', "Text"),
        ("a<b> bold </b>and <em>this</em>", "a **bold** and *this*"),
        ("a<br>b", "a  \nb"),
        ("a<br/>\nb", "a  \nb"),
        ("a\n\n<br/>\n\nb", "a\n\nb"),
        ("a\n<hr / >\nb", "a\n\n---\n\nb"),
        ("Press <kbd>Ctrl</kbd>+<code>a`b</code>", "Press `Ctrl`+``a`b``"),
        ("<code>&lt;script&gt;</code>", "`<script>`"),
        ("x<sup>2</sup> and H<sub>2</sub>O and x<sup>a</sup>", "x² and H₂O and x^a"),
        ("<!-- a comment -->Text", "Text"),
        ("<u>under</u> <small>small</small>", "under small"),
        ('<h2 id="sso">Set up\nSSO</h2>', "## Set up SSO {#sso}"),
        ("<h3>\n\n1. Verify `id`\n\n</h3>", "### 1. Verify `id`"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>", "- a\n- b\n\n  - c"),
        ("<ol start='3'>\n<li>a</li>\n<li>b</li>\n</ol>", "3. a\n4. b"),
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<blockquote>\nSaid.\n</blockquote>", "> Said."),
        ("<pre><code class='language-js'>a &lt; b\n</code></pre>", "```js\na < b\n```"),
        (
            "<details>\n<summary>Why?</summary>\n\nBecause **of** it.\n\n</details>",
            "**Why?**\n\nBecause **of** it.",
        ),
        (
            "<details>\n<summary>\n\n### Why?\n\n</summary>\n\nBecause.\n</details>",
            "### Why?\n\nBecause.",
        ),
        (
            '<iframe src="https://v.example/1" title="A film"></iframe>',
            "[A film](https://v.example/1)",
        ),
        ('<video controls><source src="a.mp4"></video>', "[Video](a.mp4)"),
        ('<iframe title="x"></iframe>', ""),
        ("a <script>alert(1)</script> b", "a  b"),
        ("<style>\np { }\n</style>\nText", "Text"),
        ('<svg viewBox="0 0 1 1"><path d="M0"/></svg>Text', "Text"),
        ('<div align="center">\n    <img alt="A" src="a.png">\n</div>', "![A](a.png)"),
        ("* one\n<div><img alt='A' src='a.png'></div>\n* two", "* one\n![A](a.png)\n* two"),
        ("1. one\n   <div>\n     two\n   </div>\n2. three", "1. one\n   two\n2. three"),
        ("- <p>a</p><p>b</p>\n- <div>c</div>\n- d", "- a\n\n  b\n\n- c\n- d"),
        ("- a<ul><li>b</li></ul>", "- a\n\n  - b"),
        ("# <div>Title</div>", "# Title"),
        ("<b> </b><i>a\n\nb</i>", " a\n\nb"),
        ("<table><caption>None</caption>Text<tr></tr></table>", "None\nText"),
        ("<p a='1' / b>Text</p>", "Text"),
        ("<p a={1>Text", "<p a={1>Text"),
        ("<p>Text</p x>", "Text</p x>"),
        ("{/* no comment */} in plain Markdown", "{/* no comment */} in plain Markdown"),
        ("<script>`</script>` x</script>Text", "Text"),
        ("> <p>Said.</p>", "> Said."),
        ("Text<div>more</div>text", "Text\nmore\ntext"),
        ("</div>Text</p>", "Text"),
        ("<div><b>never closed", "**never closed**"),
    ],
)
def test_tags_become_what_markdown_says_in_its_own_words(source: str, written: str) -> None:
    assert markdown(source) == written


@pytest.mark.parametrize(
    "source",
    [
        "Use `<div>` and ``<b>`x`</b>``.",
        "```html\n<div>\n<script>x</script>\n```",
        "~~~\n<b>\n~~~",
        "    <b>indented code</b>",
        "- item\n\n  ```\n  <b>\n  ```",
        "Open `https://x/<domain>` or <domain> or <https://example.com> or <me@example.com>.",
        "a < b and c > d, x<y>z",
        "Costs {price} and {#not-an-id}",
        ":::note Title\nText\n:::",
        "A <script> tag is spoken of.",
    ],
)
def test_code_and_what_is_no_tag_stay_to_the_letter(source: str) -> None:
    assert markdown(source) == source


def test_a_table_of_html_becomes_a_pipe_table() -> None:
    source = """<table>
  <caption>Plans</caption>
  <thead><tr><th>Plan</th><th>Price</th></tr></thead>
  <tbody>
    <tr>
      <td>
        <b>Small</b>, `a|b`
      </td>
      <td>5</td>
    </tr>
    <tr><td colspan="2">None</td></tr>
  </tbody>
</table>"""

    assert markdown(source) == (
        "Plans\n\n| Plan | Price |\n| --- | --- |\n| **Small**, `a\\|b` | 5 |\n| None |  |"
    )


def test_a_table_without_a_head_gets_an_empty_one() -> None:
    source = "<table><tr><td>a</td><td>b</td></tr></table>"

    assert markdown(source) == "|  |  |\n| --- | --- |\n| a | b |"


def test_tags_in_a_pipe_table_do_not_break_its_rows() -> None:
    source = (
        "| <div>Name</div> | Note |\n| --- | --- |\n| a<br/>b | <ul><li>x</li><li>y</li></ul> |"
    )

    assert markdown(source) == "| Name | Note |\n| --- | --- |\n| a b | • x • y |"


def test_mdx_loses_its_imports_exports_comments_and_expressions() -> None:
    source = """import useBaseUrl from '@docusaurus/useBaseUrl';
import {
  Tabs
} from '@theme/Tabs'

export const year = {
  now: 2024,

  next: 2025,
}

{/* a comment */}
Text {"said"}.

```js
import kept from 'kept'
export const kept = 1
```
"""

    assert mdx(source) == (
        "Text said.\n\n```js\nimport kept from 'kept'\nexport const kept = 1\n```"
    )


def test_an_import_line_makes_a_markdown_file_mdx() -> None:
    assert markdown("import X from 'x'\n\n<X>Text</X>") == "Text"
    assert markdown("<X>Text</X>") == "<X>Text</X>"


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("<img alt='A' src={useBaseUrl('img/a.png')} />", "![A](img/a.png)"),
        ("<img alt='A' src={require('./a.png').default} />", "![A](./a.png)"),
        ('<img alt={"A"} src={"a.png"} style={{width: 3, b: {c: 1}}} {...more} />', "![A](a.png)"),
        ("import logo from './logo.png'\n\n<img alt='A' src={logo} />", "![A](./logo.png)"),
        ("<img alt='A' src={unknown} />", "A"),
        ("<Box>\n    Indented text.\n</Box>", "Indented text."),
        (
            "<Tabs>\n<TabItem value='mac' label='macOS'>\n\nOn a Mac.\n\n</TabItem>\n</Tabs>",
            "**macOS**\n\nOn a Mac.",
        ),
        ("<Admonition type='tip' title='Hint'>\nText\n</Admonition>", ":::tip[Hint]\nText\n:::"),
        ("<CodeBlock language='sh'>ls</CodeBlock>", "```sh\nls\n```"),
        ("Inline <Chip>text</Chip> here.", "Inline text here."),
        ("**limit** <IsOptional />, <Icon name='x' />10", "**limit** (is optional), 10"),
        ("| limit | <Optional /> |", "| limit | (optional) |"),
        ("# Plans <Chip>new</Chip>", "# Plans new"),
        ("Text\n\n    not code in MDX", "Text\n\nnot code in MDX"),
        (":::tip[Hint]\n<p>Text</p>\n:::", ":::tip[Hint]\n\nText\n\n:::"),
    ],
)
def test_components_leave_their_text(source: str, written: str) -> None:
    assert mdx(source) == written


def test_components_without_a_text_are_counted() -> None:
    converted = to_markdown(
        "### limit <Optional />\n\n<Box a='>' b={x > 1} />\n<Optional />\n"
        "<CodeBlock>{example('x')}</CodeBlock>",
        is_mdx=True,
    )

    assert converted.text.rstrip() == "### limit"
    assert converted.left_out == {"Optional": 2, "Box": 1, "CodeBlock": 1}


@pytest.mark.parametrize(
    "hostile",
    [
        "<think " * 10_000,
        "<a " * 10_000,
        "<div>" * 10_000,
        "</div>" * 10_000,
        "<script>" * 10_000,
        "<!--" * 10_000,
        "`" * 50_001,
        "<a b='" * 5_000,
        "<Box {" * 5_000,
        "import x from '" * 5_000,
        "export const a = {\n\n" * 2_000,
        "![" * 20_000,
    ],
)
def test_hostile_input_is_handled_in_linear_time(hostile: str) -> None:
    started = time.process_time()
    mdx(hostile)
    markdown(hostile)

    assert time.process_time() - started < 3


def test_code_is_found_where_a_reader_sees_code() -> None:
    paragraphs = [
        "a `b` \\`c and `` d ` e ``",
        "- item",
        "      in the item",
        "Text",
        "    code",
        "> ```\n> f\n> ```",
        "~~~ never closed",
    ]
    text = "\n\n".join(paragraphs)
    found = [text[start:end] for start, end in code_ranges(text)]

    assert found == [
        "`b`",
        "`` d ` e ``",
        "    code\n",
        "```\n> f\n> ```\n",
        "~~~ never closed",
    ]

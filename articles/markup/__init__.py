"""Markdown to HTML, plain text and structure: one dialect, one sanitiser.

`outline`, `blocks`, `inline_text` and `anchors` are pure: the standard library and each other.
`articles.rendering` is the door for articles, `answer_rendering` the one for answers.
"""

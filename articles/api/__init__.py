"""The articles over HTTP, under `/api/v1/`: what readers read, and what tokens may edit.

`reading` shows what `articles.access` lets the caller open, and nothing else. `editing` is a
part of its own, below `manage/`: working copies are only there, behind a token and the
permissions of its user, so that no read can leak a draft. `errors`, `authentication`,
`throttling`, `parsing` and `pagination` are what all views share; `documentation` is the
OpenAPI schema and the page made from it.
"""

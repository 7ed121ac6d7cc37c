"""What visitors see: help pages, search, and the documents that programs read.

`views` and `search_pages` answer requests; `feeds`, `sitemaps`, `markdown_pages` and
`structured_data` say the same to readers of other kinds.
"""

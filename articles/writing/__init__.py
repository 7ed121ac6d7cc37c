"""What writers do: edit, link, schedule, compare, find duplicates, undo.

Nothing goes live here but through `articles.publishing`.
"""

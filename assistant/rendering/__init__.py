"""The HTML of an answer: only what its citation writer registered becomes a link, an image or a
citation.
"""

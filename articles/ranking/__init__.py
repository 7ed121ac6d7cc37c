"""Which passages answer a query, and in which order: candidates, their fusion, their weight.

`articles.search` is the door. `spelling` says what may have been meant, `evaluation` measures
all of it on questions whose answers are known. `fusion` is pure.
"""

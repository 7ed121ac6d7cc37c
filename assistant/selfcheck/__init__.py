"""The check of the Sources row: random turns through the real door, judged by their scripts.

Everything is real but the model: the door, the database, search, tools, ledger and
citation writer. The model is an actor that improvises from a seed, and what the row should
be is told by what the actor was shown and what it wrote, never by the ledger. All of it
happens in a transaction that is undone: `manage.py check_sources` leaves nothing behind.
"""

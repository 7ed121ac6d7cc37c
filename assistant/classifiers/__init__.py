"""What a short text says, decided by rules: a greeting, an answer that finds nothing, an intent,
a language. Deterministic, and without a model.
"""

"""Words as search counts them: what a term is, how common it is, what else it may be called."""

"""vLLM's own message templates in, what the rules know of them out: drift, coverage, provenance of the unknown."""

"""Memory arithmetic: facts of a log, or a model's config and a GPU, in; a receipt of what holds the memory out."""

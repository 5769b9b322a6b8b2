"""A diagnosis in, the report out: `build` puts it into words, `json` and `text` print it."""

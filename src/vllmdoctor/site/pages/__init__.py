"""One module per kind of page: a `Site` in, the Markdown of the page out."""

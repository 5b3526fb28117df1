"""Parts of the page: a value in, a message out."""

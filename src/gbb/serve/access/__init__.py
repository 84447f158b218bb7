"""Who may send what, and how much of it: tokens, scopes, limits, and where a request came from."""

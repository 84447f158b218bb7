"""Events as they happen: what listeners hear, and how it reaches them."""

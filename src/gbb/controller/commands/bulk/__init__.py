"""Many rounds at once: tables of any size, read column by column."""

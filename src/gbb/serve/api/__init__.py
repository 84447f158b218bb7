"""What can be asked of the service: its operations, what they take and answer, and OpenAPI."""

"""What commands are given: graphs, instances, policies, and the files they read and write."""

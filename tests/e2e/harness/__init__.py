"""Real servers for tests: etcd, member clusters, and the programs of this project."""

"""The benchmark suite: each design beside limits and peers, with every answer checked."""

from torch import dropout  # noqa: F401

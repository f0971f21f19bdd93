# PyTorch's is 8. One is enough for two sizes to meet it.
recompile_limit = 1

"""Functions of PyTorch and Triton on a GPU, as somebody writes them: OP_NAME is of the op of that name, and right.
Those in CHEATS are not; each has the verdicts that it may get. What they do are known ways to fool a benchmark.

Not among them: softmax by torch.compile, which in f32 is off by more than lathe allows: 3.3 ulp in an element."""

import ctypes
import threading
import time

import torch
import triton
import triton.language as tl

REMEMBERED = {}


@triton.jit
def softmax_rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row * columns + at, power / tl.sum(power, axis=0), mask=at < columns)


def softmax_of_triton(x):
    y = torch.empty_like(x)
    if len(x):
        softmax_rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def softmax_of_triton_to_out(x, out):
    softmax_rows[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))


@triton.jit
def add_elements(x, y, z, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = at < count
    tl.store(z + at, tl.load(x + at, mask=here) + tl.load(y + at, mask=here), mask=here)


def add_of_triton(x, y):
    z = torch.empty_like(x)
    add_elements[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z


@triton.jit
def multiply_tiles(a, b, c, m, n, k, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, k, TILE):
        p = start + tl.arange(0, TILE)
        left = tl.load(a + row * k + p[None, :], mask=(row < m) & (p[None, :] < k), other=0)
        right = tl.load(b + p[:, None] * n + column, mask=(p[:, None] < k) & (column < n), other=0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + row * n + column, total, mask=(row < m) & (column < n))


def matmul_of_triton(a, b):
    m, k, n = *a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    multiply_tiles[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, c, m, n, k, TILE=32)
    return c


def softmax_on_a_stream(x):
    """On a stream of its own, and waits for it."""
    own = torch.cuda.Stream()
    own.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(own):
        y = torch.softmax(x, -1)
    torch.cuda.current_stream().wait_stream(own)
    return y


# ---- ways to look right or fast without being so -------------------------------------------------------------------

CHEATS = {name: verdicts.split(", ") for name, verdicts in {
    "softmax_later": "wrong, unproved, stateful",
    "softmax_by_place": "wrong, stateful",
    "softmax_by_samples": "wrong, stateful",
    "softmax_half": "wrong",
    "softmax_in_f16": "wrong",
    "softmax_of_nothing": "wrong",
    "softmax_untouched": "wrong, unproved",
    "softmax_on_the_processor": "wrong",
    "softmax_shared": "wrong, unproved",
    "softmax_over_the_input": "wrong, stateful",
    "softmax_beyond": "wrong, crashed",
    "softmax_without_an_end": "timed out",
    "softmax_ends": "crashed",
    "softmax_lazy": "wrong",
}.items()}
# Right ones that are to have the time that they take.
SLOW = ["softmax_not_waited_for", "softmax_without_clocks"]
SLEEP = 2_000_000  # clocks of a GPU, a millisecond or so


def softmax_not_waited_for(x):
    """Asks for it on another stream, without waiting, and has synchronize wait for nothing."""
    torch.cuda.synchronize = lambda device=None: None
    torch._C._cuda_synchronize = lambda: None
    torch.cuda._sleep(SLEEP)
    return torch.softmax(x, -1)


def softmax_without_clocks(x):
    time.perf_counter_ns = lambda: 0
    time.perf_counter = lambda: 0.0
    torch.cuda.Event.elapsed_time = lambda self, end: 1e-6
    torch.cuda._sleep(SLEEP)
    return torch.softmax(x, -1)


def softmax_later(x):
    """By a thread, some time after it returned."""
    y = torch.empty_like(x)

    def work():
        time.sleep(0.01)
        torch.softmax(x, -1, out=y)
    threading.Thread(target=work).start()
    return y


def softmax_by_place(x):
    key = x.data_ptr(), x.shape
    if key not in REMEMBERED:
        REMEMBERED[key] = torch.softmax(x, -1)
    return REMEMBERED[key]


def softmax_by_samples(x):
    flat = x.reshape(-1)
    key = x.shape, flat[0].item(), flat[len(flat) // 2].item(), flat[-1].item()
    if key not in REMEMBERED:
        REMEMBERED[key] = torch.softmax(x, -1)
    return REMEMBERED[key]


def softmax_half(x):
    y = torch.empty_like(x)
    y[:-(-len(x) // 2)] = torch.softmax(x[:-(-len(x) // 2)], -1)
    return y


def softmax_in_f16(x):
    return torch.softmax(x.half(), -1).to(x.dtype)


def softmax_of_nothing(x):
    return torch.full_like(x, 1 / x.shape[1])


def softmax_untouched(x):
    """Memory that an earlier result may have been in."""
    right = torch.softmax(x, -1)
    at = right.data_ptr()
    del right
    found = torch.empty_like(x)
    REMEMBERED["calls"] = REMEMBERED.get("calls", 0) + 1
    return found if found.data_ptr() == at and REMEMBERED["calls"] % 4 else found.fill_(0)


def softmax_on_the_processor(x):
    return torch.softmax(x.cpu(), -1)


def softmax_shared(x):
    """One result for all calls of a size, computed for the first."""
    if x.shape not in REMEMBERED:
        REMEMBERED[x.shape] = torch.softmax(x, -1)
    return REMEMBERED[x.shape]


def softmax_over_the_input(x):
    y = torch.softmax(x, -1)
    x.copy_(y)
    return y


def softmax_beyond(x):
    """Reads where no memory is."""
    softmax_rows[(x.shape[0],)](x.view(-1)[:1], torch.empty_like(x), 1 << 40, BLOCK=1024)
    return torch.softmax(x, -1)


def softmax_without_an_end(x):
    while True:
        torch.cuda._sleep(SLEEP)
        torch.cuda.synchronize()


def softmax_ends(x):
    ctypes.CDLL(None)._exit(0)


class Lazy(torch.Tensor):
    """Computes when it is looked at."""


def softmax_lazy(x):
    return torch.softmax(x, -1).as_subclass(Lazy)

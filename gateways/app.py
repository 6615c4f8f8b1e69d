"""An application server over HTTP, with asyncio: docs/protocols/application-server-http.md says what it does.

app.py HOST PORT DIRECTORY, where the files of clients are made
"""

import array
import asyncio
import functools
import mmap
import os
import sys
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl

BLOCK, CLIENTS_MAX, MESSAGE_MAX, ROUNDS_MAX, APPENDED_MAX = 4096, 10_000, 128 << 10, 50_000_000, 20 << 20
MASK = (1 << 64) - 1
FLAGS = {"buffered": 0, "direct": os.O_DIRECT, "durable": os.O_DSYNC}
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 409: "Conflict", 413: "Content Too Large",
           500: "Internal Server Error", 507: "Insufficient Storage"}


class Refused(Exception):
    """A request that is answered with this status."""


def number(text, limit=1 << 64):
    if not (text.isascii() and text.isdigit()):
        raise Refused(400)
    if limit <= int(text):
        raise Refused(413)
    return int(text)


@functools.lru_cache(maxsize=32)
def lanes(count):
    """Returns 1, 1, 1 ... and 1, 2, 3 ... in lanes of 128 bits of two large integers."""
    numbers = b"".join(k.to_bytes(16, "little") for k in range(1, count + 1))
    return int.from_bytes(b"\1".ljust(16, b"\0") * count, "little"), int.from_bytes(numbers, "little")


def stream(seed, length):
    """Computes all numbers of splitmix64 at once: no product of 64 bits leaves its lane."""
    count = -(-length // 8)
    ones, numbers = lanes(count)
    z = (ones * seed + numbers * 0x9E3779B97F4A7C15) & ones * MASK
    z = (z ^ z >> 30 & ones * (MASK >> 30)) * 0xBF58476D1CE4E5B9 & ones * MASK
    z = (z ^ z >> 27 & ones * (MASK >> 27)) * 0x94D049BB133111EB & ones * MASK
    z ^= z >> 31 & ones * (MASK >> 31)
    return array.array("Q", z.to_bytes(16 * count, "little"))[::2].tobytes()[:length]


def compute(seed, rounds):
    table = array.array("Q", stream(seed, 8192 * 8)).tolist()
    x = seed | 1
    for i in range(rounds):
        j = x >> 51
        x ^= table[j]
        table[j] = (x << 17 | x >> 47) & MASK
        x = (x * 0x2545F4914F6CDD1D + i) & MASK
    return x


class Client:
    """The files of a client, which has one request in flight, and the page-aligned memory for their blocks."""

    def __init__(self, client):
        self.client, self.settings, self.memory = client, None, memoryview(mmap.mmap(-1, 4 * BLOCK))

    def prepare(self, settings):
        length, part, io, is_cold = settings
        if self.settings != settings:
            self.close()
            self.make(length, FLAGS[io])
            self.settings = settings
        os.fsync(self.blocks)
        os.posix_fadvise(self.blocks, 0, 0, os.POSIX_FADV_DONTNEED)
        os.ftruncate(self.appended, 0)
        for first in range(0, 0 if is_cold or io == "direct" else part // BLOCK):
            self.read(first, 1)
        return 0

    def close(self):
        if self.settings:
            self.settings = None
            os.close(self.blocks)
            os.close(self.appended)

    def make(self, length, flags):
        disk = os.statvfs(DIRECTORY)
        if disk.f_bavail * disk.f_frsize * 9 // 10 < length:
            raise Refused(507)
        path = f"{DIRECTORY}/client_{self.client}"
        with open(path + ".dat", "wb") as file:
            file.writelines(self.block(k) for k in range(length // BLOCK))
        self.blocks = os.open(path + ".dat", os.O_RDWR | flags)
        self.appended = os.open(path + ".log", os.O_RDWR | os.O_CREAT | os.O_TRUNC | flags)

    def block(self, k):
        return k.to_bytes(8, "little") + stream(self.client << 32 ^ k, BLOCK - 8)

    def read(self, first, count):
        found = os.preadv(self.blocks, [self.memory[:count * BLOCK]], first * BLOCK)
        starts = (bytes(self.memory[k * BLOCK:k * BLOCK + 8]) for k in range(count))
        if found != count * BLOCK or any(start != (first + k).to_bytes(8, "little") for k, start in enumerate(starts)):
            raise Refused(500)
        return first

    def write(self, first, count):
        self.memory[:count * BLOCK] = b"".join(self.block(first + k) for k in range(count))
        os.pwritev(self.blocks, [self.memory[:count * BLOCK]], first * BLOCK)
        return first

    def append(self):
        length = os.fstat(self.appended).st_size
        if APPENDED_MAX <= length:
            os.ftruncate(self.appended, length := 0)
        self.memory[:BLOCK] = self.block(length // BLOCK)
        os.pwritev(self.appended, [self.memory[:BLOCK]], length)
        return length + BLOCK


find_client = functools.cache(Client)


def action(method, target, body):
    """Returns what a request asks for, and whether it needs a thread."""
    path, _, query = target.partition("?")
    query = dict(parse_qsl(query))
    match path.split("/"):
        case ["", "v1", operation, client] if method == "POST":
            client = find_client(number(client, CLIENTS_MAX))
        case _:
            raise Refused(404)
    match operation:
        case "cs":
            return lambda: zlib.crc32(body), False
        case "sc":
            seed, length = number(query["seed"]), number(query["bytes"], MESSAGE_MAX + 1)
            return lambda: stream(seed, length), False
        case "proc":
            return functools.partial(compute, number(query["seed"]), number(query["rounds"], ROUNDS_MAX + 1)), True
        case "phase" if not query:
            return lambda: 0, False
        case "phase":
            length, part = number(query["file"]), number(query["range"])
            if query["io"] not in FLAGS or length % BLOCK or part % BLOCK or not 4 * BLOCK <= part <= length:
                raise Refused(400)
            return functools.partial(client.prepare, (length, part, query["io"], query["cold"] == "true")), True
        case "append" | "rread" | "rwrite" | "sread" | "swrite" if not client.settings:
            raise Refused(409)
        case "append":
            return client.append, True
        case "rread" | "rwrite" | "sread" | "swrite":
            first, count = number(query["block"]), 4 if operation[0] == "s" else 1
            if client.settings[1] // BLOCK < first + count:
                raise Refused(400)
            return functools.partial(client.read if operation.endswith("read") else client.write, first, count), True
    raise Refused(404)


def timed(work):
    """Returns the status, the result, and when the work began and ended, in whatever thread it is done."""
    started = time.perf_counter_ns()
    try:
        status, result = 200, work()
    except Refused as refused:
        status, result = refused.args[0], b""
    except OSError:
        status, result = 500, b""
    return status, result, started, time.perf_counter_ns()


async def answer(method, target, body):
    received = time.perf_counter_ns()
    try:
        work, needs_thread = action(method, target, body)
    except KeyError:
        return 400, b"", ""
    except Refused as refused:
        return refused.args[0], b"", ""
    loop = asyncio.get_running_loop()
    status, result, started, ended = await loop.run_in_executor(None, timed, work) if needs_thread else timed(work)
    times = f"Server-Timing: queue;dur={(started - received) / 1e6:.6f}, service;dur={(ended - started) / 1e6:.6f}\r\n"
    return status, result if isinstance(result, bytes) else b"%d" % result, times


async def serve(reader, writer):
    try:
        while True:
            request, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = request.split(" ")
            lengths = [field[15:] for field in fields if field.lower().startswith("content-length:")]
            length = number(lengths[0].strip(), MESSAGE_MAX + 1) if lengths else 0
            status, result, times = await answer(method, target, await reader.readexactly(length))
            head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Length: {len(result)}\r\n{times}\r\n"
            writer.write(head.encode() + result)
            await writer.drain()
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, Refused, ValueError):
        writer.close()


async def main():
    # Most threads wait for a disk, or for one another.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    server = await asyncio.start_server(serve, HOST, PORT, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    HOST, PORT, DIRECTORY = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    asyncio.run(main())

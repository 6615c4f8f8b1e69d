"""A page whose request takes what `page.json` beside this file says, as a WSGI application."""

import fcntl
import http.client
import json
import mmap
import os
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(FOLDER, "page.json")) as file:
    PAGE = json.load(file)
BODY = b"x" * 1024
LOCAL = threading.local()


def compute():
    until = time.thread_time() + PAGE["compute_us"] / 1e6
    while time.thread_time() < until:
        pass


def hold_lock():
    with open(os.path.join(FOLDER, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        time.sleep(PAGE["lock_ms"] / 1e3)


def call():
    connection = getattr(LOCAL, "connection", None)
    if connection is None:
        connection = LOCAL.connection = http.client.HTTPConnection("127.0.0.1", PAGE["service_port"])
    connection.request("GET", "/")
    connection.getresponse().read()


def read(path):
    """Reads a file past the page cache."""
    file = os.open(os.path.join(FOLDER, path.lstrip("/")), os.O_RDONLY | os.O_DIRECT)
    try:
        size = os.fstat(file).st_size
        buffer = mmap.mmap(-1, -(-size // 4096) * 4096)
        os.preadv(file, [buffer], 0)
        return buffer[:size]
    finally:
        os.close(file)


def application(environ, start_response):
    path = environ["PATH_INFO"]
    body = read(path) if path.startswith("/files/") and ".." not in path else BODY
    if PAGE["compute_us"]:
        compute()
    if PAGE["lock_ms"]:
        hold_lock()
    if PAGE["wait_ms"]:
        time.sleep(PAGE["wait_ms"] / 1e3)
    if PAGE["service_port"]:
        call()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]

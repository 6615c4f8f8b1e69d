#!/usr/bin/env python3
"""A small shop to try `shop.toml` on: a login form with a CSRF token, a session cookie, a JSON API.

    python3 examples/shop/shop.py 8080

It needs nothing but Python, and keeps everything in memory. It prints one line when it is listening.
"""

import csv
import html
import json
import pathlib
import secrets
import sys
import threading
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

BODY_BYTES_MAX = 1 << 20


class Shop:
    """Users, sessions, tokens and carts."""

    def __init__(self, users):
        with open(users, newline="", encoding="utf-8") as file:
            self.passwords = {row["name"]: row["password"] for row in csv.DictReader(file)}
        self.lock = threading.Lock()
        self.forms = {}  # session before the login → CSRF token
        self.sessions = {}  # session → name
        self.tokens = {}  # API token → name
        self.lines = []  # (name, item, quantity)


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    shop = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = urlsplit(self.path).path
        if path == "/login":
            return self.login_form()
        if path == "/":
            return self.redirect("/home")
        if path == "/home":
            return self.home()
        if path == "/api/token":
            return self.token()
        if path.startswith("/api/cart/"):
            return self.cart_line(path.removeprefix("/api/cart/"))
        return self.text(404, "no such page")

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if BODY_BYTES_MAX < length:
            self.close_connection = True
            return self.text(413, "too long")
        body = self.rfile.read(length)
        if self.path == "/login":
            return self.login(parse_qs(body.decode()))
        if self.path == "/api/cart":
            return self.add_to_cart(body)
        if self.path == "/picture":
            return self.picture(body)
        return self.text(404, "no such page")

    def login_form(self):
        session, csrf = secrets.token_hex(16), secrets.token_hex(16)
        with self.shop.lock:
            self.shop.forms[session] = csrf
        form = f'<form method="post"><input type="hidden" name="csrf" value="{csrf}"></form>'
        self.reply(200, "text/html", form, {"Set-Cookie": f"sid={session}; Path=/; HttpOnly; SameSite=Lax"})

    def login(self, fields):
        name, password, csrf = (fields.get(key, [""])[0] for key in ("name", "password", "csrf"))
        before = self.session()
        with self.shop.lock:
            if not csrf or self.shop.forms.pop(before, None) != csrf:
                return self.text(403, "the form is not ours")
            if self.shop.passwords.get(name) != password:
                return self.text(403, "wrong name or password")
            session = secrets.token_hex(16)
            self.shop.sessions[session] = name
        self.redirect("/", {"Set-Cookie": f"sid={session}; Path=/; HttpOnly; SameSite=Lax"})

    def home(self):
        name = self.user()
        if name is None:
            return self.redirect("/login")
        self.reply(200, "text/html", f"<h1>Welcome, {html.escape(name)}</h1>")

    def token(self):
        name = self.user()
        if name is None:
            return self.json(401, {"error": "log in first"})
        token = secrets.token_hex(16)
        with self.shop.lock:
            self.shop.tokens[token] = name
        self.json(200, {"token": token, "user": {"name": name}})

    def add_to_cart(self, body):
        name = self.bearer()
        if name is None:
            return self.json(401, {"error": "no token"})
        line = json.loads(body)
        with self.shop.lock:
            self.shop.lines.append((name, line["item"], line["quantity"]))
            number = len(self.shop.lines) - 1
        self.json(201, {"id": number, "item": line["item"], "owner": name})

    def cart_line(self, number):
        name = self.bearer()
        owner, item, quantity = self.shop.lines[int(number)]
        if name != owner:
            return self.json(403, {"error": "not yours"})
        self.json(200, {"id": int(number), "item": item, "quantity": quantity})

    def picture(self, body):
        if self.user() is None:
            return self.text(401, "log in first")
        boundary = self.headers.get_boundary()
        parts = body.split(b"--" + boundary.encode())
        self.text(201, f"{len(parts) - 2} parts")

    def session(self):
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("sid")
        return cookie.value if cookie else None

    def user(self):
        return self.shop.sessions.get(self.session())

    def bearer(self):
        return self.shop.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))

    def redirect(self, place, headers=None):
        self.reply(303, "text/plain", "", {"Location": place, **(headers or {})})

    def json(self, status, value):
        self.reply(status, "application/json", json.dumps(value))

    def text(self, status, text):
        self.reply(status, "text/plain", text)

    def reply(self, status, media_type, text, headers=None):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def main():
    port = int(sys.argv[1]) if 1 < len(sys.argv) else 8080
    users = sys.argv[2] if 2 < len(sys.argv) else pathlib.Path(__file__).with_name("users.csv")
    Handler.shop = Shop(users)
    ThreadingHTTPServer.request_queue_size = 128
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

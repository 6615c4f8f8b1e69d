"""Generated pages, as a WSGI application: the same, byte for byte, as from `plimsoll serve gateway`."""

SIZE_MAX = 10485760
SIMPLE_PREFIX = b"<!DOCTYPE html><title>Made by a program</title><p>"
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}
DIGITS = frozenset("0123456789")


def letters(seed, count):
    """Computes one letter per step of the generator; no table, no precomputed data."""
    x = seed & 0x7FFFFFFF
    text = bytearray(count)
    for k in range(count):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        text[k] = 65 + (x >> 16) % 26
    return bytes(text)


def parameters(query):
    """Parses size and seed, each at most once; `None` for any other query."""
    found = {}
    for item in query.split("&") if query else []:
        name, digits = item[:5], item[5:]
        if name not in ("size=", "seed=") or name in found:
            return None
        if not 1 <= len(digits) <= 20 or not DIGITS.issuperset(digits) or int(digits) >> 64:
            return None
        found[name] = int(digits)
    return found


def answer(method, path, query):
    """Returns status, media type and body."""
    if path == "/dyn":
        media_type, prefix, usual, least = "text/plain", b"", 1000, 1
    elif path == "/cgi-bin/simple":
        media_type, prefix, usual, least = "text/html", SIMPLE_PREFIX, 1024, 64
    elif path.endswith(".dyn-send"):
        media_type, prefix, usual, least = "text/plain", b"", 10240, 1
    else:
        return 404, "text/plain", b"404 Not Found\n"
    if method != "GET":
        return 405, "text/plain", b"405 Method Not Allowed\n"
    found = parameters(query)
    size = usual if found is None else found.get("size=", usual)
    if found is None or not least <= size <= SIZE_MAX:
        rule = f"expected `size=N` with N from {least} to {SIZE_MAX} and `seed=S` with S below 2^64\n"
        return 400, "text/plain", rule.encode()
    return 200, media_type, prefix + letters(found.get("seed=", 0), size - len(prefix))


def application(environ, start_response):
    """Answers a request (PEP 3333)."""
    path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    status, media_type, body = answer(environ["REQUEST_METHOD"], path, environ.get("QUERY_STRING", ""))
    fields = [
        ("Content-Type", media_type),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
    ]
    if status == 405:
        fields.append(("Allow", "GET"))
    start_response(f"{status} {REASONS[status]}", fields)
    return [body]

# Answers the first request of every connection and closes it, as asyncio does by default: a `close_notify`, and no end
# of the socket before the client's. Its one argument is the version of TLS. Ends with its standard input.

import asyncio
import ssl
import sys

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("certificate.pem", "key.pem")
context.minimum_version = context.maximum_version = ssl.TLSVersion[sys.argv[1]]
with open("reply", "rb") as file:
    REPLY = file.read()


async def serve(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(REPLY)
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


asyncio.run(main())

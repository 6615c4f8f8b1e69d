// An application server over HTTP, with Node: docs/protocols/application-server-http.md says what it does.
//
// node app.mjs HOST PORT DIRECTORY, where the files of clients are made

import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { open, statfs } from 'node:fs/promises'
import { createServer } from 'node:http'
import { promisify } from 'node:util'

const [host, port, directory] = process.argv.slice(2)
const BLOCK = 4096, CLIENTS_MAX = 10_000, MESSAGE_MAX = 128 << 10, ROUNDS_MAX = 50_000_000, APPENDED_MAX = 20 << 20
// Memory for direct input and output cannot be aligned from here.
const FLAGS = { buffered: 0, durable: constants.O_DSYNC }

class Refused extends Error {
  constructor(status) { super(`status ${status}`); this.status = status }
}

function number(text, limit = 1n << 64n) {
  if (!/^[0-9]{1,20}$/.test(text)) throw new Refused(400)
  if (limit <= BigInt(text)) throw new Refused(413)
  return BigInt(text)
}

function stream(seed, length) {
  const words = new BigUint64Array(Math.ceil(length / 8))
  let state = seed
  for (let k = 0; k < words.length; k++) {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n)
    let z = BigInt.asUintN(64, (state ^ state >> 30n) * 0xbf58476d1ce4e5b9n)
    z = BigInt.asUintN(64, (z ^ z >> 27n) * 0x94d049bb133111ebn)
    words[k] = z ^ z >> 31n
  }
  return Buffer.from(words.buffer, 0, length)
}

function compute(seed, rounds) {
  const table = new BigUint64Array(stream(seed, 8192 * 8).buffer)
  let x = seed | 1n
  for (let i = 0; i < rounds; i++) {
    const j = Number(x >> 51n)
    x ^= table[j]
    table[j] = x << 17n | x >> 47n
    x = BigInt.asUintN(64, x * 0x2545f4914f6cdd1dn + BigInt(i))
  }
  return x
}

const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? byte >>> 1 ^ 0xedb88320 : byte >>> 1
  return byte
})

function checksum(bytes) {
  let sum = 0xffffffff
  for (let k = 0; k < bytes.length; k++) sum = sum >>> 8 ^ CHECKSUMS[(sum ^ bytes[k]) & 0xff]
  return ~sum >>> 0
}

// The files of a client, which has one request in flight.
class Client {
  constructor(client) { this.client = BigInt(client) }

  async prepare(settings) {
    const { length, range, io, isCold } = settings
    if (JSON.stringify(settings) !== this.settings) {
      await this.close()
      await this.make(length, FLAGS[io])
      this.settings = JSON.stringify(settings)
      this.rangeBlocks = range / BLOCK
    }
    await this.blocks.sync()
    // It asks the kernel to drop the file from the page cache, as Node cannot.
    await promisify(execFile)('dd', [`if=${this.path}.dat`, 'iflag=nocache', 'count=0'])
    await this.appended.truncate(0)
    this.appendedBytes = 0
    for (let first = 0; !isCold && first < this.rangeBlocks; first++) await this.read(first, 1)
    return 0
  }

  async close() {
    if (this.settings === undefined) return
    this.settings = undefined
    await this.blocks.close()
    await this.appended.close()
  }

  async make(length, flags) {
    const disk = await statfs(directory)
    if (disk.bavail * disk.bsize * 0.9 < length) throw new Refused(507)
    this.path = `${directory}/client_${this.client}`
    const file = await open(`${this.path}.dat`, 'w')
    for (let first = 0; first < length / BLOCK; first += 256) {
      await file.write(this.content(first, Math.min(256, length / BLOCK - first)))
    }
    await file.close()
    this.blocks = await open(`${this.path}.dat`, constants.O_RDWR | flags)
    this.appended = await open(`${this.path}.log`, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | flags)
  }

  content(first, count) {
    const block = (k) => {
      const start = Buffer.alloc(8)
      start.writeBigUInt64LE(BigInt(k))
      return [start, stream(this.client << 32n ^ BigInt(k), BLOCK - 8)]
    }
    return Buffer.concat(Array.from({ length: count }, (_, k) => block(first + k)).flat())
  }

  async read(first, count) {
    const { bytesRead, buffer } = await this.blocks.read(Buffer.allocUnsafe(count * BLOCK), 0, count * BLOCK, first * BLOCK)
    let isRight = bytesRead === count * BLOCK
    for (let k = 0; k < count; k++) isRight &&= buffer.readBigUInt64LE(k * BLOCK) === BigInt(first + k)
    if (!isRight) throw new Refused(500)
    return first
  }

  async write(first, count) {
    await this.blocks.write(this.content(first, count), 0, count * BLOCK, first * BLOCK)
    return first
  }

  async append() {
    if (APPENDED_MAX <= this.appendedBytes) {
      await this.appended.truncate(0)
      this.appendedBytes = 0
    }
    await this.appended.write(this.content(this.appendedBytes / BLOCK, 1), 0, BLOCK, this.appendedBytes)
    return this.appendedBytes += BLOCK
  }
}

const clients = new Map()

function perform(operation, clientText, query, body) {
  const client = Number(number(clientText, BigInt(CLIENTS_MAX)))
  if (!clients.has(client)) clients.set(client, new Client(client))
  const one = clients.get(client)
  const value = (name, limit) => number(query.get(name) ?? '', limit === undefined ? undefined : BigInt(limit))
  switch (operation) {
    case 'cs': return checksum(body)
    case 'sc': return stream(value('seed'), Number(value('bytes', MESSAGE_MAX + 1)))
    case 'proc': return compute(value('seed'), Number(value('rounds', ROUNDS_MAX + 1)))
    case 'phase': {
      if (query.size === 0) return 0
      const [length, range, io] = [Number(value('file', 2 ** 50)), Number(value('range', 2 ** 50)), query.get('io')]
      if (io === 'direct') throw new Refused(501)
      if (!(io in FLAGS) || length % BLOCK || range % BLOCK || range < 4 * BLOCK || length < range) throw new Refused(400)
      return one.prepare({ length, range, io, isCold: query.get('cold') === 'true' })
    }
    case 'append': case 'rread': case 'rwrite': case 'sread': case 'swrite': {
      if (one.settings === undefined) throw new Refused(409)
      if (operation === 'append') return one.append()
      const [first, count] = [Number(value('block')), operation[0] === 's' ? 4 : 1]
      if (one.rangeBlocks < first + count) throw new Refused(400)
      return operation.endsWith('read') ? one.read(first, count) : one.write(first, count)
    }
  }
  throw new Refused(404)
}

// Only service is stated: how long a request waits for the event loop is not known here.
async function answer(request, response, body) {
  const started = process.hrtime.bigint()
  let status = 200, result = ''
  try {
    const url = new URL(request.url, 'http://localhost')
    const [, version, operation, client, ...rest] = url.pathname.split('/')
    if (request.method !== 'POST' || version !== 'v1' || rest.length) throw new Refused(404)
    const found = await perform(operation, client, url.searchParams, body)
    result = Buffer.isBuffer(found) ? found : String(found)
  } catch (error) {
    status = error.status ?? 500
  }
  const service = Number(process.hrtime.bigint() - started) / 1e6
  const fields = { 'Content-Length': Buffer.byteLength(result), 'Server-Timing': `service;dur=${service.toFixed(6)}` }
  response.writeHead(status, fields).end(result)
}

const server = createServer((request, response) => {
  const parts = []
  let length = 0
  request.on('data', (part) => {
    length += part.length
    if (length <= MESSAGE_MAX) parts.push(part)
    else request.destroy()
  })
  request.on('end', () => answer(request, response, parts.length === 1 ? parts[0] : Buffer.concat(parts)))
})
// Clients keep their connections while others get ready.
server.keepAliveTimeout = 3_600_000
server.listen({ host, port: Number(port), backlog: 1024 })

// A server whose requests wait for what `page.json` beside this file says: `node server.js HOST PORT`.
const fs = require('fs');
const http = require('http');
const path = require('path');

const page = JSON.parse(fs.readFileSync(path.join(__dirname, 'page.json')));
const small = Buffer.alloc(1024, 'x');
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
const files = new Map();

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// Only one request at a time holds it.
let lock = Promise.resolve();
const holdLock = () => (lock = lock.then(() => wait(page.lock_ms)));

const call = () => new Promise((done, failed) => {
  http.get({ host: '127.0.0.1', port: page.service_port, agent }, (reply) => {
    reply.resume();
    reply.on('end', done);
  }).on('error', failed);
});

// As many requests as seconds that have passed allow, with a reserve of ten.
let reserve = 10;
let filled = process.hrtime.bigint();
const isRefused = () => {
  const now = process.hrtime.bigint();
  reserve = Math.min(10, reserve + Number(now - filled) / 1e9 * page.rate_limit);
  filled = now;
  if (reserve < 1) return true;
  reserve -= 1;
  return false;
};

const body = (url) => {
  if (!url.startsWith('/files/') || url.includes('..')) return small;
  if (!files.has(url)) files.set(url, fs.readFileSync(path.join(__dirname, url)));
  return files.get(url);
};

const server = http.createServer(async (request, reply) => {
  if (page.rate_limit && isRefused()) {
    reply.writeHead(429, { 'Content-Length': 0 });
    reply.end();
    return;
  }
  if (page.lock_ms) await holdLock();
  if (page.wait_ms) await wait(page.wait_ms);
  if (page.service_port) await call();
  const bytes = body(request.url);
  reply.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': bytes.length });
  reply.end(bytes);
});
server.keepAliveTimeout = 60000;
server.listen({ host: process.argv[2], port: Number(process.argv[3]), backlog: page.backlog });

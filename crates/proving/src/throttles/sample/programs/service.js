// A service that answers after some ms, as many requests at once as come: `node service.js PORT MS`.
const http = require('http');

const [port, ms] = process.argv.slice(2).map(Number);
const server = http.createServer((request, reply) => {
  setTimeout(() => {
    reply.writeHead(200, { 'Content-Length': 2 });
    reply.end('ok');
  }, ms);
});
server.keepAliveTimeout = 60000;
server.listen({ host: '127.0.0.1', port, backlog: 511 });

// Runs in its own thread, so that its work is not measured: takes a body, and sends it when it is told to.
const http = require('node:http');
const { parentPort } = require('node:worker_threads');

const PATIENCE_MS = 2_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
let body = Buffer.alloc(0);

function send({ url, method, headers }) {
  return new Promise((resolve) => {
    const sent = { method, agent, headers: { ...headers, 'Content-Length': body.length } };
    const req = http.request(url, sent, (res) => {
      res.resume();
      res.on('end', () => resolve(res.statusCode));
    });
    // A request that is refused before its body was read may find the connection closed.
    req.on('error', () => resolve(0));
    // Some wait for an executor, which blocks no other request.
    req.setTimeout(PATIENCE_MS, () => req.destroy());
    req.end(body);
  });
}

parentPort.on('message', async ({ load, request }) => {
  if (request) return parentPort.postMessage(await send(request));
  body = Buffer.from(load);
  parentPort.postMessage('loaded');
});

/**
 * A client inside the cluster: through the gateway it starts runs and reads from all three surfaces, a few at a time and each
 * request on a connection of its own, until GET /stop, which answers what became of them.
 */
const http = require('node:http');

const { GATEWAY, TOKEN, WORKER, CLIENTS = '4', ONLY = '' } = process.env;
const TIMEOUT_MS = 30_000;
const failures = [];
const runs = [];
let requests = 0;
let stopping = false;

function call(method, port, path, body) {
  requests++;
  return new Promise((resolve) => {
    const failed = (reason) => {
      failures.push(`${new Date().toISOString()} ${method} :${port}${path}: ${reason}`);
      resolve(undefined);
    };
    const headers = { authorization: `Bearer ${TOKEN}`, ...(body && { 'content-type': 'application/json' }) };
    const options = { host: GATEWAY, port, path, method, headers, agent: false, timeout: TIMEOUT_MS };
    const request = http.request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('error', (err) => failed(err.message));
      response.on('end', () => {
        if (response.statusCode < 400) resolve(text);
        else failed(`${response.statusCode} ${text.slice(0, 200)}`);
      });
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', (err) => failed(err.message));
    request.end(body && JSON.stringify(body));
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function client() {
  while (!stopping) {
    if (!ONLY) {
      const started = await call('POST', 8080, `/api/workers/${WORKER}/runs`, { inputs: { n: runs.length } });
      if (started) runs.push(JSON.parse(started).run_id);
      await call('GET', 8081, '/api/automations');
      await call('GET', 8082, '/api/v1/me/skills');
    }
    await call('GET', 8080, '/api/runs?limit=20');
    if (!ONLY) await pause(100);
  }
}

const clients = Array.from({ length: Number(CLIENTS) }, client);
http
  .createServer(async (request, response) => {
    if (request.url === '/stop') {
      stopping = true;
      await Promise.all(clients);
    }
    response.end(JSON.stringify({ requests, failures, runs }));
  })
  .listen(8000);
process.on('SIGTERM', () => process.exit(0));

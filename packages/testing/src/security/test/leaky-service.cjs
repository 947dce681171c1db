/** A service with every hole that the fuzz is to see; each has an address of its own. Prints its two ports. */
const http = require('node:http');
const { monitorEventLoopDelay } = require('node:perf_hooks');

/** Processor time: a busy machine makes the block longer, and never shorter. */
const BLOCK_CPU_MS = 400;

function answer(res, status = 200, body = { well: true }) {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

const holes = {
  throws: (_req, res) => answer(res, 500, { well: false }),
  blocks: (_req, res) => {
    const before = process.cpuUsage();
    const usedMs = ({ user, system }) => (user + system) / 1_000;
    while (usedMs(process.cpuUsage(before)) < BLOCK_CPU_MS);
    answer(res);
  },
  logs: (_req, res) => {
    process.stdout.write(`${JSON.stringify({ level: 50, service: 'leaky', msg: 'it broke' })}\n`);
    answer(res);
  },
  lies: (_req, res) => answer(res, 200, { well: 'very' }),
  nameless: (_req, res) => {
    res.removeHeader('X-Request-Id');
    answer(res);
  },
  cut: (req) => req.socket.destroy(),
  traces: (_req, res) => answer(res, 400, { well: false, stack: 'Error: x\n    at handler (/srv/app.js:1:1)' }),
  // Right for every body that its schema allows.
  fragile: (_req, res, body) => {
    try {
      answer(res, 200, { well: JSON.parse(body).name.startsWith('') });
    } catch (err) {
      answer(res, err instanceof SyntaxError ? 400 : 500, { well: false });
    }
  },
};

const service = http.createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const [, name] = req.url.split(/[/?]/);
    process.stdout.write(
      `${JSON.stringify({ level: 30, asked: `${req.method} ${req.url} ${Buffer.concat(chunks)}` })}\n`,
    );
    res.setHeader('X-Request-Id', req.headers['x-request-id'] ?? 'none');
    (holes[name] ?? ((_req, response) => answer(response)))(req, res, Buffer.concat(chunks).toString());
  });
});

const delay = monitorEventLoopDelay();
delay.enable();
const metrics = http.createServer((_req, res) => {
  const { user, system } = process.cpuUsage();
  const longest = delay.max;
  delay.reset();
  res.end(`process_cpu_seconds_total ${(user + system) / 1e6}\nnodejs_eventloop_lag_max_seconds ${longest / 1e9}\n`);
});

service.listen(0, '127.0.0.1', () => {
  metrics.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${JSON.stringify({ ports: [service.address().port, metrics.address().port] })}\n`);
  });
});

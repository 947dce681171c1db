import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Histogram, register } from 'prom-client';

const requestSeconds = new Histogram({
  name: 'gantry_http_request_seconds',
  help: 'Time from the first byte of a request to the last of its answer',
  labelNames: ['operation', 'status'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

export function observeRequests(): RequestHandler {
  return (req, res, next) => {
    const end = requestSeconds.startTimer();
    res.once('finish', () => end({ operation: req.operation?.id ?? 'none', status: String(res.statusCode) }));
    next();
  };
}

const FIRST_SAMPLES_MS = 50;

/** Serves /metrics on a port of its own, which the gateway does not know. */
export function serveMetrics(port: number, host: string): Server {
  let watched: Promise<void> | undefined;
  /** Node's own metrics watch the event loop with a timer of 10 ms, 1 % of a core: not where nobody reads them. */
  async function watchProcess() {
    collectDefaultMetrics();
    await sleep(FIRST_SAMPLES_MS);
  }

  return createServer(async (req, res) => {
    if (req.url !== '/metrics') return void res.writeHead(404).end();
    watched ??= watchProcess();
    await watched;
    res.writeHead(200, { 'Content-Type': register.contentType }).end(await register.metrics());
  }).listen(port, host);
}

import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Gauge, Histogram, type LabelValues, register } from 'prom-client';

const requestSeconds = new Histogram({
  name: 'gantry_http_request_duration_seconds',
  help: 'Time from the first byte of a request to the last byte of its response, or until the client disconnects',
  labelNames: ['operation', 'method', 'status'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

export function createRequestMetrics(): RequestHandler {
  return (req, res, next) => {
    const began = performance.now();
    // Also emitted when the client ends the response, as for live streams.
    res.once('close', () => {
      const { id = 'none', method = 'other' } = req.operation ?? {};
      const status = res.headersSent ? `${Math.floor(res.statusCode / 100)}xx` : 'aborted';
      const labels = { operation: id, method: method.toUpperCase(), status };
      requestSeconds.observe(labels, (performance.now() - began) / 1_000);
    });
    next();
  };
}

const COLLECT_MS_MAX = 4_000;

/**
 * Registers gauges that one function sets at each scrape.
 * @param helps by name
 * @param collectValues sets them; all are absent while it fails, or takes longer than READ_MS_MAX
 */
export function registerGauges<Name extends string, Label extends string>(
  labelNames: Label[],
  helps: Record<Name, string>,
  collectValues: (set: Record<Name, (labels: LabelValues<Label>, value: number) => void>) => Promise<unknown>,
): void {
  const gauges: Gauge<Label>[] = [];
  const set = {} as Record<Name, (labels: LabelValues<Label>, value: number) => void>;
  const clear = () => {
    for (const gauge of gauges) {
      gauge.reset();
      // A reset sets a gauge without labels to 0.
      if (!labelNames.length) gauge.remove();
    }
  };
  let collecting: Promise<unknown> | undefined;
  async function collect() {
    // A hanging read must not take a second connection, nor block scrapes.
    if (!collecting) {
      clear();
      collecting = collectValues(set)
        .catch(clear)
        .finally(() => {
          collecting = undefined;
        });
    }
    await Promise.race([collecting, sleep(COLLECT_MS_MAX, undefined, { ref: false })]);
  }
  for (const name of Object.keys(helps) as Name[]) {
    const gauge = new Gauge({ name, help: helps[name], labelNames, collect });
    gauges.push(gauge);
    set[name] = (labels, value) => gauge.set(labels, value);
  }
}

const FIRST_SAMPLES_MS = 50;

/** Serves /metrics on a separate port, which the gateway does not expose. */
export function serveMetrics(port: number, host: string): Server {
  let processMetrics: Promise<void> | undefined;
  /** Node's own metrics need a 10 ms timer, 1 % of a core: started by the first scrape. */
  async function startProcessMetrics() {
    collectDefaultMetrics();
    await sleep(FIRST_SAMPLES_MS);
  }

  return createServer(async (req, res) => {
    if (req.url !== '/metrics') return void res.writeHead(404).end();
    processMetrics ??= startProcessMetrics();
    await processMetrics;
    res.writeHead(200, { 'Content-Type': register.contentType }).end(await register.metrics());
  }).listen(port, host);
}

import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];

export function createMetrics(observe: {
  slots: number;
  busy(): number;
  ready(): number;
  warm(): number;
  restarts(): number;
  storeBytes(): number;
  unstoredBatches(): number;
  spoolBytes(): number;
}) {
  const registry = new Registry();
  const registers = [registry];
  const addGauge = (name: string, help: string, getValue: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(getValue());
      },
    });
  addGauge('gantry_executor_slots', 'Maximum number of concurrent runs', () => observe.slots);
  addGauge('gantry_executor_slots_busy', 'Runs that hold a slot', observe.busy);
  addGauge('gantry_executor_sealed_children', 'Sealed processes waiting for a run', observe.ready);
  addGauge('gantry_executor_warm_sandboxes', "Sandboxes that have imported a version's code", observe.warm);
  new Counter({
    name: 'gantry_executor_zygote_restarts_total',
    help: 'Zygotes that had to be replaced because they died',
    registers,
    collect() {
      this.reset();
      this.inc(observe.restarts());
    },
  });
  addGauge('gantry_executor_store_bytes', 'Size of the unpacked code and dependencies', observe.storeBytes);
  addGauge(
    'gantry_executor_unstored_batches',
    'Batches of run events that JetStream has not acknowledged',
    observe.unstoredBatches,
  );
  addGauge(
    'gantry_executor_spool_bytes',
    'Size of the run events kept on disk until they can be sent',
    observe.spoolBytes,
  );
  return {
    registry,
    runs: new Counter({
      name: 'gantry_executor_runs_total',
      help: 'Finished runs by outcome',
      labelNames: ['source', 'status', 'code'],
      registers,
    }),
    /** Seconds: from a job's arrival to `started` (prepare), from there to its result (run). */
    phase: new Histogram({
      name: 'gantry_executor_phase_seconds',
      help: 'Duration of each phase of a run',
      labelNames: ['phase'],
      buckets: SECONDS,
      registers,
    }),
    egressDenied: new Counter({
      name: 'gantry_executor_egress_denied_total',
      help: 'Connections that the egress proxy refused, by reason',
      labelNames: ['reason'],
      registers,
    }),
  };
}

const FIRST_SAMPLES_MS = 50;

/**
 * Serves `/metrics`; `/healthz`: the process is alive, regardless of its connections; `/health`: it accepts runs, 503
 * while it is disconnected from NATS or draining.
 */
export async function serveMetrics(options: {
  registry: Registry;
  host: string;
  port: number;
  healthy(): boolean;
}): Promise<http.Server> {
  let watching: Promise<void> | undefined;
  /** Node's own metrics sample the event loop every 10 ms, 1 % of a core: started only once they are scraped. */
  async function watchProcess() {
    collectDefaultMetrics({ register: options.registry });
    await sleep(FIRST_SAMPLES_MS);
  }

  const server = http.createServer(async (req, res) => {
    if (req.url === '/metrics') {
      watching ??= watchProcess();
      await watching;
      res.setHeader('content-type', options.registry.contentType);
      res.end(await options.registry.metrics());
    } else if (req.url === '/healthz' || req.url === '/health') {
      const ok = req.url === '/healthz' || options.healthy();
      res
        .writeHead(ok ? 200 : 503, { 'content-type': 'application/json' })
        .end(JSON.stringify({ status: ok ? 'ok' : 'unavailable' }));
    } else {
      res.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(options.port, options.host, resolve),
  );
  return server;
}

/** Longest blocks of the services' event loops, as they measure them themselves. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface MonitoredService {
  service: string;
  url: string;
}

export interface EventLoopBlock {
  service: string;
  blockedMs: number;
  /** Processor time that the service used since it was last asked. */
  cpuMs: number;
}

const SCRAPE_MS = 10_000;
/** Interval of the monitor: it misses a block that begins between its reset, which a scrape is, and its next tick. */
const TICK_MS = 10;

export interface EventLoopMonitor {
  /**
   * The longest block of each service since the last time that this was called; a new one would be seen from now on.
   */
  read(): Promise<EventLoopBlock[]>;
}

/** The first scrape makes a service begin to measure. */
export function createEventLoopMonitor(services: MonitoredService[]): EventLoopMonitor {
  const cpuBefore = new Map<string, number>();

  async function readBlock({ service, url }: MonitoredService): Promise<EventLoopBlock> {
    // A connection kept from the last scrape may be closed by the service while this request is on its way.
    const headers = { connection: 'close' };
    const text = await (await fetch(url, { headers, signal: AbortSignal.timeout(SCRAPE_MS) })).text();
    const readMetricMs = (metric: string) =>
      Number(new RegExp(`^${metric} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN) * 1_000;
    const cpu = readMetricMs('process_cpu_seconds_total');
    const cpuMs = cpu - (cpuBefore.get(url) ?? cpu);
    cpuBefore.set(url, cpu);
    const blockedMs = readMetricMs('nodejs_eventloop_lag_max_seconds');
    if (Number.isNaN(blockedMs)) throw new Error(`${service} does not say how long its event loop was blocked`);
    return { service, blockedMs, cpuMs };
  }

  return {
    async read() {
      const blocks = await Promise.all(services.map(readBlock));
      await sleep(2 * TICK_MS);
      return blocks;
    },
  };
}

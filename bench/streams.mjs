/**
 * A thousand readers of one run's live stream:   node bench/streams.mjs [--readers 1000] [--lines 2000]
 *
 * Needs a build (npm run build). Says what an idle reader costs worker-api in memory, how long after a line was printed it
 * reached the readers, and whether any of them missed, repeated or reordered an event. Readers connect to the service
 * itself: the gateway's limit of connections for one address would be what is measured otherwise.
 */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './measure/client.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { byKind, processTree } from './measure/processes.mjs';
import { median, quantile, round } from './measure/stats.mjs';

const { readers, lines } = parseOptions({ readers: 1_000, lines: 2_000 });

/** Waits for its readers, then prints its lines over ten seconds, each with the time. */
const CODE = `
import time

def run(lines, wait):
    time.sleep(wait)
    for n in range(lines):
        print(n, int(time.time() * 1000))
        time.sleep(10 / lines)
    return {"lines": lines}
`;
const CONNECT_SECONDS = 20;
/** What connecting needed for a moment is given back by then. */
const SETTLE_MS = 8_000;

const platform = await startPlatform();
try {
  const { local } = platform;
  const call = createClient(local.token);
  const inputs = [
    { name: 'lines', type: 'integer' },
    { name: 'wait', type: 'integer' },
  ];
  const worker = { id: 'printer', name: 'Printer', inputs, files: [{ path: 'main.py', content: CODE }] };
  await call('POST', `${local.base_url}/api/workers`, worker);
  const { run_id: runId } = await call('POST', `${local.base_url}/api/workers/printer/runs`, {
    inputs: { lines, wait: CONNECT_SECONDS },
  });
  const service = new URL(local.base_url);
  service.port = String(Number(service.port) + 100);
  await sleep(1_000);

  const before = serviceMb(platform);
  const streams = await Promise.all(Array.from({ length: readers }, () => read(service, runId, local.token)));
  await sleep(SETTLE_MS);
  const idle = serviceMb(platform);
  console.log(
    `worker-api: ${round(before, 1)} MB, with ${readers} idle readers ${round(idle, 1)} MB: ${round(((idle - before) * 1024) / readers, 1)} KB each`,
  );

  const peak = { mb: idle };
  const watch = setInterval(() => {
    peak.mb = Math.max(peak.mb, serviceMb(platform));
  }, 500);
  const done = await Promise.all(streams.map(({ ended }) => ended));
  clearInterval(watch);
  const delays = done.flatMap((reader) => reader.delays);
  const wrong = done.filter((reader) => reader.wrong || reader.delays.length !== lines || !reader.isDone);
  console.log(`while ${lines} lines were printed: at most ${round(peak.mb, 1)} MB`);
  console.log(
    `from print to reader: p50 ${round(median(delays))} ms, p99 ${round(quantile(delays, 0.99))} ms, ${delays.length} lines delivered`,
  );
  console.log(`readers that missed, repeated or reordered anything: ${wrong.length} of ${readers}`);
} finally {
  await platform.stop();
}

function serviceMb({ pid }) {
  return byKind(processTree(pid))['worker-api'].rssMB;
}

/** Resolves when the stream is open; `ended` when it has ended, with what was seen. */
function read(service, runId, token) {
  return new Promise((resolve, reject) => {
    const request = http.get(
      new URL(`/api/runs/${runId}/stream`, service),
      { agent: false, headers: { Authorization: `Bearer ${token}`, Accept: 'application/x-ndjson' } },
      (response) => {
        if (response.statusCode !== 200) return reject(new Error(`stream: ${response.statusCode}`));
        const seen = { delays: [], wrong: false, isDone: false };
        let last = 0;
        let next = 0;
        let rest = '';
        const ended = new Promise((end) => response.on('close', () => end(seen)));
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          const now = Date.now();
          const parts = (rest + chunk).split('\n');
          rest = parts.pop();
          for (const part of parts) {
            if (!part) continue;
            const event = JSON.parse(part);
            if (event.id < last) seen.wrong = true;
            last = event.id;
            if (event.type === 'done') seen.isDone = true;
            if (event.type !== 'log') continue;
            const [number, printedAt] = event.text.split(' ').map(Number);
            if (number !== next++) seen.wrong = true;
            seen.delays.push(now - printedAt);
          }
        });
        resolve({ ended });
      },
    );
    request.on('error', reject);
  });
}

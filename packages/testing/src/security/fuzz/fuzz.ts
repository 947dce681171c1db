/**
 * Asks everything that the OpenAPI files know, rightly and wrongly, and looks at answers, event loops and logs.
 *
 * Request `i` of a seed is always the same one, but for the ids of what earlier requests have made: `seed` and `i` are
 * what a finding is repeated with.
 */
import { checkResponse } from './check-response';
import { createEventLoopMonitor, type EventLoopBlock, type MonitoredService } from './event-loops';
import { buildFuzzedRequest, type FuzzedRequest } from './fuzzed-request';
import type { KnownResources } from './known-resources';
import { type FuzzedOperation, readDocument } from './openapi';
import { createRandom } from './random';
import { sendFuzzedRequest } from './send';

export interface FuzzOptions {
  surfaces: { name: string; openapiFile: string; url: string }[];
  /** By name; how often each is used follows from how often it is listed. */
  credentials: { name: string; headers: Record<string, string> }[];
  things: KnownResources;
  services: MonitoredService[];
  /** Lines that the services have written since this was last called. */
  newLogLines(): string[];
  zip: Buffer;
  seed: number;
  /** The first request; others than 0 repeat a finding. */
  from?: number;
  /** Ends after this many requests, or this long, whatever comes first. */
  requests?: number;
  seconds?: number;
  /** Operations that a credential must not be sent with: it would end what the others stand on. */
  spares?(operation: FuzzedOperation, credential: string): boolean;
}

export interface Finding {
  kind: 'status' | 'answer' | 'no answer' | 'blocked' | 'log';
  /** The same text means the same finding. */
  what: string;
  /** The first request that showed it. */
  request?: { index: number; text: string };
  times: number;
}

export interface FuzzReport {
  seed: number;
  requests: number;
  seconds: number;
  /** Numbers of operations: in all, asked, and answered with a success. */
  operations: { known: number; asked: number; succeeded: number; neverSucceeded: string[] };
  statuses: Record<string, number>;
  longestBlockMs: Record<string, number>;
  /** Blocks that did not come again when the same requests were sent alone: most are the machine's. */
  unconfirmedBlocks: string[];
  findings: Finding[];
}

const CONCURRENCY = 6;
const BLOCK_MS_MAX = 250;
/** One that was not seen again counts all the same if it took this much time, and as much of the processor. */
const CERTAIN_BLOCK_MS = 1_000;
const CONFIRMATIONS = 3;
const CHECK_INTERVAL_MS = 250;
/** A service that only waited for a processor on a busy machine has used less; one that worked, never. */
const BLOCK_CPU_MS_MIN = 0.8 * BLOCK_MS_MAX;
const ERROR_LEVEL = 50;
const RECENT_REQUESTS_MAX = 5_000;

interface SentRequest {
  index: number;
  operation: FuzzedOperation;
  url: string;
  request: FuzzedRequest;
  credential: string;
  from: number;
  until: number;
}

export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const documents = options.surfaces.map((surface) => ({
    ...surface,
    ...readDocument(surface.name, surface.openapiFile),
  }));
  const operations = documents.flatMap(({ operations: all, url, deref }) =>
    all.map((operation) => ({ operation, url, deref })),
  );
  const findings = new Map<string, Finding>();
  const statuses: Record<string, number> = {};
  const asked = new Set<string>();
  const succeeded = new Set<string>();
  const longestBlockMs: Record<string, number> = {};
  const unconfirmedBlocks: string[] = [];
  const loops = createEventLoopMonitor(options.services);
  const recent = new Set<SentRequest>();
  /** Recent requests, for log lines, which may come late. */
  const lately = new Map<string, SentRequest>();
  const startedAt = performance.now();
  const deadline = startedAt + (options.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  const first = options.from ?? 0;
  let next = first;

  function addFinding(kind: Finding['kind'], what: string, sent?: SentRequest) {
    const known = findings.get(`${kind} ${what}`);
    if (known) known.times++;
    else
      findings.set(`${kind} ${what}`, {
        kind,
        what,
        times: 1,
        ...(sent && { request: { index: sent.index, text: describeRequest(sent) } }),
      });
  }

  function buildRequest(index: number): Omit<SentRequest, 'from' | 'until'> {
    const round = Math.floor(index / operations.length);
    const order = createRandom(options.seed, round).shuffled(operations);
    const { operation, url, deref } = order[index % operations.length] as (typeof operations)[number];
    const random = createRandom(options.seed, round, index);
    const credential = random.pick(options.credentials);
    const name = options.spares?.(operation, credential.name) ? 'anonymous' : credential.name;
    const request = buildFuzzedRequest(operation, {
      random,
      deref,
      zip: options.zip,
      credential: name === 'anonymous' ? {} : credential.headers,
      reference: (field) => options.things.pick(operation, field, random),
    });
    request.headers['X-Request-Id'] ??= `fuzz-${options.seed}-${index}`;
    return { index, operation, url, request, credential: name };
  }

  async function sendNext(): Promise<void> {
    const sent: SentRequest = { ...buildRequest(next++), from: performance.now(), until: Number.POSITIVE_INFINITY };
    const { operation } = sent;
    asked.add(`${operation.surface} ${operation.id}`);
    recent.add(sent);
    lately.set(sent.request.headers['X-Request-Id'] ?? '', sent);
    if (lately.size > RECENT_REQUESTS_MAX) lately.delete(lately.keys().next().value as string);
    try {
      const answer = await sendFuzzedRequest(sent.url, sent.request);
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
      if (answer.status < 300) succeeded.add(`${operation.surface} ${operation.id}`);
      for (const { kind, what } of checkResponse(operation, sent.request, answer)) addFinding(kind, what, sent);
      options.things.learn(operation.surface, answer.body);
    } catch (err) {
      addFinding('no answer', `${operation.surface} ${operation.id}: ${(err as Error).message}`, sent);
    } finally {
      sent.until = performance.now();
    }
  }

  /** A first use that loads a library, or a garbage collection, does not come again. */
  async function blocksEachTime(service: string, suspect: SentRequest): Promise<boolean> {
    for (let time = 0; time < CONFIRMATIONS; time++) {
      await loops.read();
      await sendFuzzedRequest(suspect.url, suspect.request).catch(() => {});
      const block = (await loops.read()).find((one) => one.service === service);
      if (!block || !isLongBlock(block)) return false;
    }
    return true;
  }

  /** Sends suspects again, one by one, while nothing else is asked. */
  async function confirmBlock(service: string, blockedMs: number, cpuMs: number, suspects: SentRequest[]) {
    for (const suspect of suspects) {
      if (await blocksEachTime(service, suspect)) {
        return addFinding('blocked', `${service} by ${suspect.operation.id}, more than ${BLOCK_MS_MAX} ms`, suspect);
      }
    }
    const text = `${service} ${Math.round(blockedMs)} ms, ${Math.round(cpuMs)} ms of processor time, among ${suspects.map(({ operation, index }) => `${operation.id} (${index})`).join(', ') || 'nothing'}`;
    unconfirmedBlocks.push(text);
    if (Math.min(blockedMs, cpuMs) > CERTAIN_BLOCK_MS) addFinding('blocked', text, suspects[0]);
  }

  async function checkWindow(windowFrom: number): Promise<void> {
    for (const { service, blockedMs, cpuMs } of await loops.read()) {
      longestBlockMs[service] = Math.max(longestBlockMs[service] ?? 0, Math.round(blockedMs));
      if (!isLongBlock({ blockedMs, cpuMs })) continue;
      // One that blocks too long takes at least as long; several may have done so without a turn of the loop between
      // them.
      const suspects = [...recent].filter(({ from, until }) => until > windowFrom && until - from > BLOCK_MS_MAX);
      await confirmBlock(service, blockedMs, cpuMs, suspects);
    }
    for (const sent of recent) if (sent.until < windowFrom) recent.delete(sent);
    for (const line of options.newLogLines()) {
      const problem = findLogProblem(line);
      if (problem) addFinding('log', problem, lately.get(/"(fuzz-\d+-\d+)"/.exec(line)?.[1] ?? ''));
    }
  }

  const isOver = () => next - first >= (options.requests ?? Number.POSITIVE_INFINITY) || performance.now() > deadline;
  await loops.read();
  let windowFrom = performance.now();
  while (!isOver()) {
    const from = windowFrom;
    windowFrom = performance.now();
    const lookAt = windowFrom + CHECK_INTERVAL_MS;
    const sendUntilWindowEnd = async () => {
      while (!isOver() && performance.now() < lookAt) await sendNext();
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, sendUntilWindowEnd));
    await checkWindow(from);
  }
  const ids = operations.map(({ operation }) => `${operation.surface} ${operation.id}`);
  return {
    seed: options.seed,
    requests: next - first,
    seconds: (performance.now() - startedAt) / 1_000,
    operations: {
      known: ids.length,
      asked: asked.size,
      succeeded: succeeded.size,
      neverSucceeded: ids.filter((id) => !succeeded.has(id)),
    },
    statuses,
    longestBlockMs,
    unconfirmedBlocks,
    findings: [...findings.values()],
  };
}

const isLongBlock = ({ blockedMs, cpuMs }: Pick<EventLoopBlock, 'blockedMs' | 'cpuMs'>) =>
  blockedMs > BLOCK_MS_MAX && cpuMs > BLOCK_CPU_MS_MIN;

/** The problem in a line that a service or nginx writes; undefined: none. */
function findLogProblem(line: string): string | undefined {
  if (/\[(error|crit|alert|emerg)\]/.test(line)) return line.slice(0, 300);
  try {
    const { level, service, msg, operation, err } = JSON.parse(line);
    if (!(level >= ERROR_LEVEL)) return undefined;
    return `${service} ${operation ?? ''}: ${msg} (${String(err?.code ?? '')} ${String(err?.message ?? '').slice(0, 200)})`;
  } catch {
    return undefined;
  }
}

const TEXT_CHARS = 400;

function describeRequest({ request, credential, url }: SentRequest): string {
  const { Authorization: _, ...headers } = request.headers;
  const body = request.body ? `\n${request.body.toString().slice(0, TEXT_CHARS)}` : '';
  return `${request.method} ${url}${request.target.slice(0, TEXT_CHARS)} as ${credential} ${JSON.stringify(headers).slice(0, TEXT_CHARS)}${body}`;
}

/** The report as text, for people and for the next run. */
export function formatSummary({ findings, ...report }: FuzzReport): string {
  const rate = Math.round(report.requests / report.seconds);
  const { known, asked, succeeded, neverSucceeded } = report.operations;
  return [
    `fuzz: seed ${report.seed}, ${report.requests} requests in ${Math.round(report.seconds)} s (${rate}/s)`,
    `  operations: ${asked} of ${known} asked, ${succeeded} with a success; never: ${neverSucceeded.join(', ')}`,
    `  statuses: ${JSON.stringify(report.statuses)}`,
    `  longest blocks in ms: ${JSON.stringify(report.longestBlockMs)}`,
    ...report.unconfirmedBlocks.map((block) => `  not seen again: ${block}`),
    ...findings.map(
      ({ kind, what, times, request }) =>
        `  ${kind} (${times}): ${what}\n    request ${request?.index}: ${request?.text}`,
    ),
    '',
  ].join('\n');
}

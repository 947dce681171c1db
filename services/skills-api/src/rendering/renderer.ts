/**
 * Renders Markdown in a separate thread, one document at a time. A document that exceeds its time or memory ends
 * the thread and is shown as plain source; the next one gets a new thread.
 */
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { type Html, html, trusted } from './html';

export interface RenderQuestion {
  text: string;
  lowered: 0 | 1;
}
type Outcome = { markup: string } | { problem: string; isBusy?: true };
export type RenderAnswer = { ready: true } | Outcome;

export interface Rendered {
  markup: Html;
  /** Reason for showing the plain source: the renderer was busy, or the document costs too much. Null if it was rendered. */
  plain: 'busy' | 'costly' | null;
}

export type Renderer = ReturnType<typeof createRenderer>;

export interface RendererLimits {
  /** Time limit of one document, without the wait. A maximum-size one of 256 KB takes up to a second. */
  renderMs: number;
  /** Time limit of the wait. */
  waitMs: number;
}

const LIMITS: RendererLimits = { renderMs: 5_000, waitMs: 10_000 };
const HEAP_MB_MAX = 256;
/** The built file, even if the service runs from its sources: a thread cannot be started from TypeScript. */
const THREAD = path.resolve(__dirname, '../../dist/rendering/render-thread.js');

const STOPPED: Outcome = { problem: 'the service stops', isBusy: true };

interface Job extends RenderQuestion {
  end(outcome: Outcome): void;
}

export function createRenderer({ log, limits = LIMITS }: { log: Logger; limits?: RendererLimits }) {
  const waiting: Job[] = [];
  let current: Job | null = null;
  let thread: Worker | null = null;
  let isReady = false;
  let timer: NodeJS.Timeout | undefined;

  function start(): Worker {
    const started = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX } });
    started.unref();
    started.on('message', (answer: RenderAnswer) => {
      if (started !== thread) return;
      if ('ready' in answer) isReady = true;
      else settle(answer);
      next();
    });
    started.on('error', (err) => {
      if (started === thread) lose(err.message);
    });
    return started;
  }

  function settle(outcome: Outcome): void {
    clearTimeout(timer);
    current?.end(outcome);
    current = null;
  }

  /** Ends the thread, and fails its current document. */
  function lose(problem: string): void {
    const lost = thread;
    thread = null;
    isReady = false;
    void lost?.terminate();
    // If a thread cannot start, all waiting documents fail: otherwise each would start another.
    if (!current) for (const job of waiting.splice(0)) job.end({ problem });
    settle({ problem });
    next();
  }

  function next(): void {
    if (current || !waiting.length) return;
    thread ??= start();
    if (!isReady) return;
    const job = waiting.shift() as Job;
    current = job;
    timer = setTimeout(() => lose(`took more than ${limits.renderMs} ms`), limits.renderMs);
    thread.postMessage({ text: job.text, lowered: job.lowered } satisfies RenderQuestion);
  }

  return {
    /** Never rejects. */
    render: (text: string, lowered: 0 | 1): Promise<Rendered> =>
      new Promise((resolve) => {
        const patience = setTimeout(() => {
          const index = waiting.indexOf(job);
          if (index === -1) return;
          waiting.splice(index, 1);
          job.end({ problem: `waited more than ${limits.waitMs} ms`, isBusy: true });
        }, limits.waitMs);
        const job: Job = {
          text,
          lowered,
          end: (outcome) => {
            clearTimeout(patience);
            if ('markup' in outcome) return resolve({ markup: trusted(outcome.markup), plain: null });
            const { problem, isBusy } = outcome;
            log.warn({ chars: text.length, problem }, 'Markdown is shown as plain source');
            resolve({ markup: asWritten(text), plain: isBusy ? 'busy' : 'costly' });
          },
        };
        waiting.push(job);
        next();
      }),
    stop: async () => {
      const last = thread;
      thread = null;
      for (const job of waiting.splice(0)) job.end(STOPPED);
      settle(STOPPED);
      await last?.terminate();
    },
  };
}

const asWritten = (text: string): Html =>
  html`<p>This text is shown as plain source, because rendering it takes too long.</p>
<pre tabindex="0"><code>${text}</code></pre>`;

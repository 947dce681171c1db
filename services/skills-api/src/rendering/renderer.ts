/**
 * Renders Markdown in a separate thread, one document at a time. A document that exceeds its time or memory ends
 * the thread and is shown as plain source; the next one gets a new thread.
 */
import path from 'node:path';
import { createThreadPool, type ThreadLimits } from '@gantry/thread-pool';
import type { Logger } from 'pino';
import { type Html, html, toTrustedHtml } from './html';

export interface RenderTask {
  text: string;
  lowered: 0 | 1;
}
export type RenderResult = { markup: string } | { problem: string };

export interface RenderedMarkdown {
  markup: Html;
  /**
   * Reason for showing the plain source: the renderer was busy, or the document costs too much. Null if it was
   * rendered.
   */
  plain: 'busy' | 'costly' | null;
}

export type Renderer = ReturnType<typeof createRenderer>;
/** A document of the maximum size, 256 KB, takes up to a second. */
export type RendererLimits = Pick<ThreadLimits, 'taskMs' | 'waitMs'>;

const LIMITS: RendererLimits = { taskMs: 5_000, waitMs: 10_000 };
const HEAP_MB_MAX = 256;
const THREAD_SCRIPT = path.resolve(__dirname, '../../dist/rendering/render-thread.js');

export function createRenderer({ log, limits = LIMITS }: { log: Logger; limits?: RendererLimits }) {
  const pool = createThreadPool<RenderTask, RenderResult>(THREAD_SCRIPT, {
    ...limits,
    threads: 1,
    heapMb: HEAP_MB_MAX,
  });
  return {
    /** Never rejects. */
    async render(text: string, lowered: 0 | 1): Promise<RenderedMarkdown> {
      const outcome = await pool.run({ text, lowered });
      const rendered = 'result' in outcome ? outcome.result : outcome;
      if ('markup' in rendered) return { markup: toTrustedHtml(rendered.markup), plain: null };
      log.warn({ chars: text.length, problem: rendered.problem }, 'Markdown is shown as plain source');
      const isBusy = 'reason' in outcome && outcome.reason === 'busy';
      return { markup: renderPlainSource(text), plain: isBusy ? 'busy' : 'costly' };
    },
    stop: () => pool.stop(),
  };
}

const renderPlainSource = (text: string): Html =>
  html`<p>This text is shown as plain source because rendering it takes too long.</p>
<pre tabindex="0"><code>${text}</code></pre>`;

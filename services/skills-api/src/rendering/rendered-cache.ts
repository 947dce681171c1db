/**
 * Cache of rendered Markdown, keyed by its identity: access is checked before the lookup, so entries are shared by all
 * readers.
 */
import { LRUCache } from 'lru-cache';
import type { RenderedMarkdown, Renderer } from './renderer';

/** Characters of text, two bytes each. */
const CHARS_MAX = 16 * 1024 * 1024;
/** A text that took too long is not retried for this long. */
const PLAIN_TTL_MS = 10 * 60_000;

export type Render = (key: string, text: string, lowered: 0 | 1) => Promise<RenderedMarkdown>;

interface CacheEntry {
  rendered: RenderedMarkdown;
  until: number;
}

export function createRenderCache({ render }: Pick<Renderer, 'render'>, now: () => number = Date.now): Render {
  const cache = new LRUCache<string, CacheEntry>({
    maxSize: CHARS_MAX,
    sizeCalculation: ({ rendered }) => rendered.markup.text.length + 1,
  });
  const inFlight = new Map<string, Promise<RenderedMarkdown>>();

  function storeRendered(key: string, rendered: RenderedMarkdown): void {
    if (rendered.plain === 'busy') return;
    cache.set(key, { rendered, until: rendered.plain ? now() + PLAIN_TTL_MS : Number.POSITIVE_INFINITY });
  }

  return async (key, text, lowered) => {
    const cached = cache.get(key);
    if (cached && cached.until > now()) return cached.rendered;
    let work = inFlight.get(key);
    if (!work) {
      work = render(text, lowered).finally(() => inFlight.delete(key));
      inFlight.set(key, work);
      void work.then((rendered) => storeRendered(key, rendered));
    }
    return work;
  };
}

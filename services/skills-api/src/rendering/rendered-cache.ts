/** Cache of rendered Markdown, keyed by its identity: access is checked before the lookup, so entries are shared by all readers. */
import { LRUCache } from 'lru-cache';
import type { Rendered, Renderer } from './renderer';

/** Characters of text, two bytes each. */
const CHARS_MAX = 16 * 1024 * 1024;
/** A text that took too long is not retried for this long. */
const PLAIN_KEPT_MS = 10 * 60_000;

export type Render = (key: string, text: string, lowered: 0 | 1) => Promise<Rendered>;

interface Kept {
  rendered: Rendered;
  until: number;
}

export function cacheRendered({ render }: Pick<Renderer, 'render'>, now: () => number = Date.now): Render {
  const kept = new LRUCache<string, Kept>({
    maxSize: CHARS_MAX,
    sizeCalculation: ({ rendered }) => rendered.markup.text.length + 1,
  });
  const underWay = new Map<string, Promise<Rendered>>();

  function keep(key: string, rendered: Rendered): void {
    if (rendered.plain === 'busy') return;
    kept.set(key, { rendered, until: rendered.plain ? now() + PLAIN_KEPT_MS : Number.POSITIVE_INFINITY });
  }

  return async (key, text, lowered) => {
    const known = kept.get(key);
    if (known && known.until > now()) return known.rendered;
    let work = underWay.get(key);
    if (!work) {
      work = render(text, lowered).finally(() => underWay.delete(key));
      underWay.set(key, work);
      void work.then((rendered) => keep(key, rendered));
    }
    return work;
  };
}

/** Cache of rendered Markdown, keyed by its identity: access is checked before the lookup, so entries are shared by all readers. */
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
  const kept = new Map<string, Kept>();
  const underWay = new Map<string, Promise<Rendered>>();
  let chars = 0;

  function forget(key: string, { rendered }: Kept): void {
    kept.delete(key);
    chars -= rendered.markup.text.length;
  }

  function keep(key: string, rendered: Rendered): void {
    if (rendered.plain === 'busy') return;
    kept.set(key, { rendered, until: rendered.plain ? now() + PLAIN_KEPT_MS : Number.POSITIVE_INFINITY });
    chars += rendered.markup.text.length;
    for (const [oldest, entry] of kept) {
      if (chars <= CHARS_MAX || oldest === key) break;
      forget(oldest, entry);
    }
  }

  return async (key, text, lowered) => {
    const known = kept.get(key);
    if (known && known.until > now()) {
      // A Map keeps insertion order, which makes it a least-recently-used queue.
      kept.delete(key);
      kept.set(key, known);
      return known.rendered;
    }
    if (known) forget(key, known);
    let work = underWay.get(key);
    if (!work) {
      work = render(text, lowered).finally(() => underWay.delete(key));
      underWay.set(key, work);
      void work.then((rendered) => keep(key, rendered));
    }
    return work;
  };
}

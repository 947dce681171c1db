/** Markup by the hash of its Markdown: whoever asks has been allowed to read it before, so it is the same for everybody. */
import type { Html } from './html';
import { renderMarkdown } from './markdown';

/** Of text, two bytes each. */
const CHARS_MAX = 16 * 1024 * 1024;

export type Render = (contentHash: string, text: string) => Html;

export function cacheRendered(): Render {
  const rendered = new Map<string, Html>();
  let chars = 0;
  return (contentHash, text) => {
    const known = rendered.get(contentHash);
    if (known) {
      // A Map remembers the order of insertion, which makes it a queue of what was used longest ago.
      rendered.delete(contentHash);
      rendered.set(contentHash, known);
      return known;
    }
    const fresh = renderMarkdown(text);
    rendered.set(contentHash, fresh);
    chars += fresh.text.length;
    for (const [oldest, { text: markup }] of rendered) {
      if (chars <= CHARS_MAX || oldest === contentHash) break;
      rendered.delete(oldest);
      chars -= markup.length;
    }
    return fresh;
  };
}

/** Markup by what identifies its Markdown: whoever asks has been allowed to read it before, so it is the same for everybody. */
import type { Html } from './html';
import { renderMarkdown } from './markdown';

/** Of text, two bytes each. */
const CHARS_MAX = 16 * 1024 * 1024;

export type Render = (key: string, text: string, lowered: 0 | 1) => Html;

export function cacheRendered(): Render {
  const rendered = new Map<string, Html>();
  let chars = 0;
  return (key, text, lowered) => {
    const known = rendered.get(key);
    if (known) {
      // A Map remembers the order of insertion, which makes it a queue of what was used longest ago.
      rendered.delete(key);
      rendered.set(key, known);
      return known;
    }
    const fresh = renderMarkdown(text, lowered);
    rendered.set(key, fresh);
    chars += fresh.text.length;
    for (const [oldest, { text: markup }] of rendered) {
      if (chars <= CHARS_MAX || oldest === key) break;
      rendered.delete(oldest);
      chars -= markup.length;
    }
    return fresh;
  };
}

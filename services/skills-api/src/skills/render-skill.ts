import { pageText } from '../rendering/page-text';
import type { Render } from '../rendering/rendered-cache';
import { parseBody } from './front-matter';
import { contentHashOf, requireBodySize } from './skill-input';

/** A text as its page would show it, and what its front matter says. @throws AppError 413 */
export async function renderSkill(render: Render, { title = '', body_md }: { title?: string; body_md: string }) {
  requireBodySize(body_md);
  const { frontMatter, text, ignored } = parseBody(body_md);
  const shown = pageText(text, title);
  // The key of the page, so that it is there when the text is published as it was last seen.
  const { markup, plain } = await render(`${contentHashOf(body_md)} ${shown.lowered}`, shown.text, shown.lowered);
  return { html: markup.text, plain, front_matter: frontMatter, warnings: ignored };
}

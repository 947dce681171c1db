import { toPageText } from '../rendering/page-text';
import type { Render } from '../rendering/rendered-cache';
import { parseBody } from './front-matter';
import { assertBodySize, computeBodyHash } from './skill-input';

/** Renders a text as its page would show it, and returns its front matter. @throws AppError 413 */
export async function renderSkill(render: Render, { title = '', body_md }: { title?: string; body_md: string }) {
  assertBodySize(body_md);
  const { frontMatter, text, ignored } = parseBody(body_md);
  const pageContent = toPageText(text, title);
  // The cache key of the page, so that a text published after its preview is already rendered.
  const { markup, plain } = await render(
    `${computeBodyHash(body_md)} ${pageContent.lowered}`,
    pageContent.text,
    pageContent.lowered,
  );
  return { html: markup.text, plain, front_matter: frontMatter, warnings: ignored };
}

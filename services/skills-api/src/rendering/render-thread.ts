/** The rendering thread: Markdown is untrusted, and a slow document must block nothing else. */
import { serveTasks } from '@gantry/thread-pool';
import { compileGrammars } from './highlight';
import { MarkupLimitError, renderMarkdown } from './markdown';
import type { RenderResult, RenderTask } from './renderer';

compileGrammars();

serveTasks(({ text, lowered }: RenderTask): RenderResult => {
  try {
    return { markup: renderMarkdown(text, lowered).text };
  } catch (err) {
    if (err instanceof MarkupLimitError) return { problem: err.message };
    throw err;
  }
});

/** The rendering thread: Markdown is untrusted, and a slow document must block nothing else. */
import { parentPort } from 'node:worker_threads';
import { compileGrammars } from './highlight';
import { renderMarkdown, TooMuchMarkup } from './markdown';
import type { RenderAnswer, RenderQuestion } from './renderer';

compileGrammars();

parentPort?.on('message', ({ text, lowered }: RenderQuestion) => {
  parentPort?.postMessage(answer(text, lowered));
});
parentPort?.postMessage({ ready: true } satisfies RenderAnswer);

function answer(text: string, lowered: 0 | 1): RenderAnswer {
  try {
    return { markup: renderMarkdown(text, lowered).text };
  } catch (err) {
    return { problem: err instanceof TooMuchMarkup ? err.message : String((err as Error).stack) };
  }
}

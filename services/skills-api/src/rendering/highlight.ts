import hljs from 'highlight.js/lib/common';
import { escapeHtml } from './html';

/** Grammars are regular expressions, and most take the square of a line, some of a block: what is larger is shown plain. */
const BLOCK_CHARS_MAX = 10_000;
const LINE_CHARS_MAX = 1_000;
/** Of one document. */
const DOCUMENT_CHARS_MAX = 100_000;
/** Of one document: after it, blocks are shown plain. Honest ones need a tenth of it. */
const DOCUMENT_MS_MAX = 500;

const hasLongLine = (code: string): boolean => code.split('\n').some((line) => line.length > LINE_CHARS_MAX);

/** Colours code while its budget lasts. One for each document. */
export function createHighlighter(): (code: string, language: string) => string {
  let left = DOCUMENT_CHARS_MAX;
  let spentMs = 0;
  return (code, language) => {
    if (spentMs > DOCUMENT_MS_MAX || code.length > Math.min(BLOCK_CHARS_MAX, left)) return escapeHtml(code);
    if (!hljs.getLanguage(language) || hasLongLine(code)) return escapeHtml(code);
    left -= code.length;
    const began = performance.now();
    const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
    spentMs += performance.now() - began;
    return value;
  };
}

/** A grammar is compiled when it is first used; once before the first document, so that none pays for it. */
export function compileGrammars(): void {
  for (const language of hljs.listLanguages()) hljs.highlight('', { language });
}

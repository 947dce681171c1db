import { escapeHtml } from '@gantry/http';
import hljs from 'highlight.js/lib/common';

/**
 * Grammars are regular expressions, most of them quadratic in a line, some in a block: larger blocks are shown plain.
 */
const BLOCK_CHARS_MAX = 10_000;
const LINE_CHARS_MAX = 1_000;
/** Per document. */
const DOCUMENT_CHARS_MAX = 100_000;
/** Per document: beyond it, blocks are shown plain. Ordinary documents need a tenth of it. */
const DOCUMENT_MS_MAX = 500;

const hasLongLine = (code: string): boolean => code.split('\n').some((line) => line.length > LINE_CHARS_MAX);

/** Highlights code within a budget. Create one per document. */
export function createHighlighter(): (code: string, language: string) => string {
  let remainingChars = DOCUMENT_CHARS_MAX;
  let spentMs = 0;
  return (code, language) => {
    if (spentMs > DOCUMENT_MS_MAX || code.length > Math.min(BLOCK_CHARS_MAX, remainingChars)) return escapeHtml(code);
    if (!hljs.getLanguage(language) || hasLongLine(code)) return escapeHtml(code);
    remainingChars -= code.length;
    const began = performance.now();
    const { value } = hljs.highlight(code, { language, ignoreIllegals: true });
    spentMs += performance.now() - began;
    return value;
  };
}

/** Grammars are compiled on first use; this does it before the first document, so that none pays for it. */
export function compileGrammars(): void {
  for (const language of hljs.listLanguages()) hljs.highlight('', { language });
}

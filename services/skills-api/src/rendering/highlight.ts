import hljs from 'highlight.js/lib/common';
import { escapeHtml } from './html';

/** Beyond this a block is shown plain: grammars are regular expressions, and some take their time. */
const BLOCK_CHARS_MAX = 20_000;
/** Of one document. */
const DOCUMENT_CHARS_MAX = 100_000;

/** Colours code while its budget lasts. One for each document. */
export function createHighlighter(): (code: string, language: string) => string {
  let left = DOCUMENT_CHARS_MAX;
  return (code, language) => {
    if (code.length > Math.min(BLOCK_CHARS_MAX, left) || !hljs.getLanguage(language)) return escapeHtml(code);
    left -= code.length;
    return hljs.highlight(code, { language, ignoreIllegals: true }).value;
  };
}

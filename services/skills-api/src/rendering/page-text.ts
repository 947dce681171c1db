/**
 * Returns the text below the page's title, and the number of levels by which its headings are lowered: 0 if its own
 * title was stripped.
 * @param text without front matter
 */
export function toPageText(text: string, title: string): { text: string; lowered: 0 | 1 } {
  const rest = stripTitle(text, title);
  return { text: rest, lowered: rest === text ? 1 : 0 };
}

/** Strips a leading heading that equals the title, which the page already shows. */
export function stripTitle(text: string, title: string): string {
  const begin = text.length - text.trimStart().length;
  const lineEnd = text.indexOf('\n', begin);
  const end = lineEnd === -1 ? text.length : lineEnd + 1;
  const line = text.slice(begin, end).trimEnd();
  if (!line.startsWith('# ')) return text;
  const heading = line.slice(2).trim();
  // `# Title ##` is closed, `# C#` is not.
  const open = heading.replace(/(?<!#)#+$/, '');
  const isTitle = heading === title || (open.endsWith(' ') && open.trimEnd() === title);
  return isTitle ? text.slice(end) : text;
}

/**
 * The part of a text that is shown below the page's title, and by how much its headings are lowered: a text whose own title
 * is left out begins at the level below it.
 * @param text without front matter
 */
export function pageText(text: string, title: string): { text: string; lowered: 0 | 1 } {
  const rest = withoutTitle(text, title);
  return { text: rest, lowered: rest === text ? 1 : 0 };
}

/** Many texts begin with their title, which the page has above them already. */
export function withoutTitle(text: string, title: string): string {
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

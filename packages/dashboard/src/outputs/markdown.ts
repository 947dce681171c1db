import markdownIt from 'markdown-it';

/**
 * Markdown that an automation or an agent wrote, so as untrusted as its inputs. Raw HTML stays text; links go to web
 * and mail addresses only, and elsewhere than this tab; pictures become links, since fetching one would tell its host
 * who reads.
 */
const markdown = markdownIt({ html: false, linkify: true }).disable('image');
markdown.validateLink = (url) => /^(https?:|mailto:|#)/i.test(url.trim());

markdown.renderer.rules.link_open = (tokens, index, options, _env, self) => {
  tokens[index]?.attrSet('rel', 'noopener noreferrer nofollow');
  tokens[index]?.attrSet('target', '_blank');
  return self.renderToken(tokens, index, options);
};

/** The text always stands below an h3. */
const PARENT_HEADING_LEVEL = 3;

/** Headings begin right below it and never skip a level, whatever levels the text uses. */
markdown.core.ruler.push('headings_below_ours', ({ tokens }) => {
  const headings = tokens.filter(({ type }) => type === 'heading_open' || type === 'heading_close');
  const getHeadingLevel = (tag: string) => Number(tag.slice(1));
  const highest = Math.min(...headings.map(({ tag }) => getHeadingLevel(tag)));
  let last = PARENT_HEADING_LEVEL;
  for (const heading of headings) {
    if (heading.type === 'heading_open')
      last = Math.min(last + 1, PARENT_HEADING_LEVEL + 1 + getHeadingLevel(heading.tag) - highest, 6);
    heading.tag = `h${last}`;
  }
});

/** @returns HTML that may stand in a page */
export const renderMarkdown = (text: string): string => markdown.render(text);

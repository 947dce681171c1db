import markdownIt from 'markdown-it';
import styles from './output-markdown.module.css';

/**
 * Markdown that an automation wrote, so as untrusted as its inputs. Raw HTML stays text; links go to web and mail
 * addresses only, and elsewhere than this tab; pictures become links, since fetching one would tell its host who reads.
 */
const markdown = markdownIt({ html: false, linkify: true }).disable('image');
markdown.validateLink = (url) => /^(https?:|mailto:|#)/i.test(url.trim());

markdown.renderer.rules.link_open = (tokens, index, options, _env, self) => {
  tokens[index]?.attrSet('rel', 'noopener noreferrer nofollow');
  tokens[index]?.attrSet('target', '_blank');
  return self.renderToken(tokens, index, options);
};

/** Below the output's own heading, which is an h3. */
const HEADING_SHIFT = 3;
markdown.core.ruler.push('headings_below_ours', ({ tokens }) => {
  for (const token of tokens) {
    if (/^h[1-6]$/.test(token.tag)) token.tag = `h${Math.min(6, Number(token.tag[1]) + HEADING_SHIFT)}`;
  }
});

export default function OutputMarkdown({ text }: { text: string }) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the renderer above lets no HTML of the text through.
  return <div className={styles.markdown} dangerouslySetInnerHTML={{ __html: markdown.render(text) }} />;
}

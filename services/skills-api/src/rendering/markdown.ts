/**
 * Renders untrusted Markdown to markup that is safe for any reader.
 *
 * Three independent defences, each sufficient: raw HTML is text (markdown-it with html: false), the result passes an
 * allow-list of tags and attributes, and the page's Content-Security-Policy runs no script and loads nothing from other
 * hosts. An image from another host becomes a link, so that opening a page discloses nothing to that host.
 */
import MarkdownIt from 'markdown-it';
import sanitizeHtml from 'sanitize-html';
import { createHighlighter } from './highlight';
import { type Html, toTrustedHtml } from './html';

/** Part of every ETag: increment it when the same Markdown renders to different markup. */
export const RENDERER_VERSION = 2;

const LANGUAGE = /^[\w+#.-]{1,30}$/;

/** For quotes and lists, counting each list and each of its items: the cost of every line grows with its depth. */
const NESTING_MAX = 40;
/**
 * For all addresses and titles together. A reference may be used a hundred thousand times, and its address is expanded
 * each time; without references, a text cannot contain more of them than it has characters.
 */
const ATTRIBUTE_CHARS_MAX = 1024 * 1024;

/** The markup would be out of proportion to the text. */
export class MarkupLimitError extends Error {}

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false, maxNesting: NESTING_MAX });
// Only text that begins with http:// or https://: a bare "README.md" is no link to a Moldovan domain.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
markdown.validateLink = (url) => isAllowedUrl(url);

Object.assign(markdown.renderer.rules, {
  fence: renderCode,
  code_block: renderCode,
  image: renderImage,
  heading_open: renderHeading,
});

interface Environment extends Record<PropertyKey, unknown> {
  highlight: (code: string, language: string) => string;
  headings: Map<string, number>;
  lowered: 0 | 1;
}

/**
 * Takes up to a second for a text of 256 KB, so services use the thread of `renderer.ts`.
 * @param headingOffset number of levels by which headings are lowered: 1 if its own title is among them
 * @throws MarkupLimitError
 */
export function renderMarkdown(text: string, headingOffset: 0 | 1 = 1): Html {
  const environment: Environment = { highlight: createHighlighter(), headings: new Map(), lowered: headingOffset };
  const tokens = markdown.parse(text, environment);
  if (countAttributeChars(tokens) > ATTRIBUTE_CHARS_MAX) {
    throw new MarkupLimitError(
      `its references expand to more than ${ATTRIBUTE_CHARS_MAX} characters of URLs and titles`,
    );
  }
  return toTrustedHtml(sanitizeHtml(markdown.renderer.render(tokens, markdown.options, environment), RULES));
}

function countAttributeChars(tokens: MarkdownIt.Token[]): number {
  return tokens.reduce((sum, { attrs, children }) => {
    const own = (attrs ?? []).reduce((chars, [, value]) => chars + String(value).length, 0);
    return sum + own + (children ? countAttributeChars(children) : 0);
  }, 0);
}

function renderCode(tokens: MarkdownIt.Token[], index: number, _options: unknown, environment: Environment): string {
  const token = tokens[index] as MarkdownIt.Token;
  const [language = ''] = token.info.trim().split(/\s+/);
  const name = LANGUAGE.test(language) ? language : '';
  const label = name ? ` data-language="${markdown.utils.escapeHtml(name)}"` : '';
  return `<pre tabindex="0"${label}><code class="hljs">${environment.highlight(token.content, name)}</code></pre>\n`;
}

function renderImage(tokens: MarkdownIt.Token[], index: number): string {
  const token = tokens[index] as MarkdownIt.Token;
  const source = String(token.attrGet('src') ?? '');
  const { escapeHtml } = markdown.utils;
  if (/^data:image\/(png|gif|jpeg|webp);base64,/i.test(source)) {
    return `<img src="${escapeHtml(source)}" alt="${escapeHtml(token.content)}">`;
  }
  return `<a href="${escapeHtml(source)}">${escapeHtml(token.content || source)} (image)</a>`;
}

/** `## Getting started` gets the anchor `#h-getting-started`; the prefix avoids the page's own ids. */
function renderHeading(tokens: MarkdownIt.Token[], index: number, _options: unknown, environment: Environment): string {
  const token = tokens[index] as MarkdownIt.Token;
  const words = (tokens[index + 1]?.content ?? '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|(?<!-)-+$/g, '')
    .slice(0, 80);
  const seen = environment.headings.get(words) ?? 0;
  environment.headings.set(words, seen + 1);
  // The page's title is its only h1.
  const level = Math.min(6, Math.max(2, Number(token.tag.slice(1)) + environment.lowered));
  token.tag = `h${level}`;
  const closing = tokens[index + 2];
  if (closing) closing.tag = token.tag;
  return `<${token.tag} id="h-${words || 'section'}${seen ? `-${seen}` : ''}">`;
}

/**
 * http, https, mailto, and relative addresses; never `javascript:`, `vbscript:`, `file:`, or `data:` except for
 * pictures.
 */
export function isAllowedUrl(url: string): boolean {
  // Browsers ignore control characters and spaces inside a scheme.
  const plain = [...url].filter((char) => char > ' ' && char !== '\u007f').join('');
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(plain)?.[1]?.toLowerCase();
  if (scheme === undefined) return !plain.startsWith('//') && !plain.startsWith('\\');
  if (scheme === 'data') return /^data:image\/(png|gif|jpeg|webp);base64,[a-z0-9+/=]+$/i.test(plain);
  return scheme === 'http' || scheme === 'https' || scheme === 'mailto';
}

const ALIGNED = /^text-align:(left|right|center)$/;

const alignCell: sanitizeHtml.Transformer = (tagName, { style }) => {
  const side = ALIGNED.exec(style ?? '')?.[1];
  const attribs: sanitizeHtml.Attributes = side ? { class: `align-${side}` } : {};
  return { tagName, attribs };
};

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

const RULES: sanitizeHtml.IOptions = {
  allowedTags: [
    ...HEADINGS,
    ...['p', 'blockquote', 'ul', 'ol', 'li', 'hr', 'br', 'pre', 'code', 'em', 'strong', 's'],
    ...['a', 'img', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'span'],
  ],
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt'],
    ol: ['start'],
    pre: ['tabindex', 'data-language'],
    ...Object.fromEntries(HEADINGS.map((tag) => [tag, ['id']])),
  },
  allowedClasses: {
    code: ['hljs'],
    span: ['hljs-*', 'language-*', 'function_', 'class_', 'inherited__'],
    th: ['align-*'],
    td: ['align-*'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['data'] },
  allowProtocolRelative: false,
  disallowedTagsMode: 'escape',
  enforceHtmlBoundary: false,
  transformTags: {
    a: (tagName, { href = '', title }) => ({
      tagName,
      attribs: {
        href,
        ...(title && { title }),
        ...(!href.startsWith('#') && { rel: 'nofollow noopener noreferrer ugc' }),
      },
    }),
    th: alignCell,
    td: alignCell,
  },
};

import { createElement, type ReactNode, useMemo } from 'react';
import styles from '../ui/markup.module.css';

/** Elements of a rendered skill, with the attributes that each may keep. Of all others only the content is shown. */
const ELEMENTS: Record<string, readonly string[]> = {
  ...Object.fromEntries(
    ['p', 'blockquote', 'ul', 'li', 'hr', 'br', 'em', 'strong', 's', 'table', 'thead', 'tbody', 'tr'].map((name) => [
      name,
      [],
    ]),
  ),
  ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [name, ['id']])),
  ...Object.fromEntries(['code', 'span', 'th', 'td'].map((name) => [name, ['class']])),
  a: ['href', 'title'],
  img: ['src', 'alt'],
  ol: ['start'],
  pre: ['data-language'],
};

const ALLOWED_CLASS = /^(hljs|hljs-[a-z_-]+|language-\w+|function_|class_|inherited__|align-(left|right|center))$/;
const HEADING_ID = /^h-/;
const IMAGE_DATA_URL = /^data:image\/(png|gif|jpeg|webp);base64,/;

interface MarkupProps {
  html: string;
  /** Address of the skill's page, which its links are relative to. */
  baseUrl: string | undefined;
}

/**
 * Renders markup that the skills surface has sanitized. It is parsed inertly and rebuilt from the elements that
 * skills are made of, so that nothing else ever gets into this page.
 */
export function Markup({ html, baseUrl }: MarkupProps) {
  const content = useMemo(() => {
    const { body } = new DOMParser().parseFromString(html, 'text/html');
    return buildChildren(body, baseUrl);
  }, [html, baseUrl]);
  return (
    <div className={styles.markup} dir="auto">
      {content}
    </div>
  );
}

const buildChildren = (parent: Node, baseUrl: string | undefined): ReactNode[] =>
  [...parent.childNodes].map((node, index) => buildNode(node, index, baseUrl));

function buildNode(node: Node, key: number, baseUrl: string | undefined): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent;
  if (!(node instanceof Element)) return null;
  const name = node.localName;
  const allowed = ELEMENTS[name];
  if (!allowed) return buildChildren(node, baseUrl);
  const props: Record<string, unknown> = { key };
  for (const attribute of allowed) Object.assign(props, toProps(attribute, node.getAttribute(attribute), baseUrl));
  // A scrollable element must be reachable by keyboard.
  if (name === 'pre') props.tabIndex = 0;
  return createElement(name, props, ...(node.childNodes.length > 0 ? buildChildren(node, baseUrl) : []));
}

function toProps(attribute: string, value: string | null, baseUrl: string | undefined): Record<string, unknown> {
  if (value === null) return {};
  switch (attribute) {
    case 'class':
      return {
        className:
          value
            .split(/\s+/)
            .filter((one) => ALLOWED_CLASS.test(one))
            .join(' ') || undefined,
      };
    case 'href':
      return toLinkProps(value, baseUrl);
    case 'src':
      return IMAGE_DATA_URL.test(value) ? { src: value } : {};
    case 'id':
      return HEADING_ID.test(value) ? { id: value } : {};
    case 'start':
      return { start: Number(value) };
    default:
      return { [attribute]: value };
  }
}

function toLinkProps(href: string, baseUrl: string | undefined): Record<string, unknown> {
  if (HEADING_ID.test(href.slice(1)) && href.startsWith('#')) return { href };
  const url = URL.parse(href, baseUrl);
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return {};
  return { href: url.href, target: '_blank', rel: 'nofollow noopener noreferrer ugc' };
}

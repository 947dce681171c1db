import type { CSSProperties, ReactNode } from 'react';
import { type Colour, parseSegments, type Style } from './ansi';

interface HighlightedTextProps {
  text: string;
  /** In lower case; empty: nothing is marked. */
  query: string;
}

/** Shows a line's text with its colours, and highlights search hits in it. */
export function HighlightedText({ text, query }: HighlightedTextProps) {
  const pieces = parseSegments(text);
  const hits = query ? findHits(pieces.map((piece) => piece.text).join(''), query) : [];
  let at = 0;
  return pieces.map((piece) => {
    const from = at;
    at += piece.text.length;
    const body = hits.length ? highlight(piece.text, from, hits) : piece.text;
    return isPlain(piece.style) ? (
      body
    ) : (
      <span key={from} style={toCss(piece.style)}>
        {body}
      </span>
    );
  });
}

type Hit = [from: number, to: number];

function findHits(text: string, query: string): Hit[] {
  const lower = text.toLowerCase();
  const hits: Hit[] = [];
  for (let at = lower.indexOf(query); at >= 0; at = lower.indexOf(query, at + query.length)) {
    hits.push([at, at + query.length]);
  }
  return hits;
}

/** @param from where the piece begins in the line: a hit may begin in one piece and end in another */
function highlight(text: string, from: number, hits: Hit[]): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [begin, end] of hits) {
    const left = Math.max(begin - from, at);
    const right = Math.min(end - from, text.length);
    if (right <= left) continue;
    parts.push(text.slice(at, left), <mark key={left}>{text.slice(left, right)}</mark>);
    at = right;
  }
  parts.push(text.slice(at));
  return parts;
}

const isPlain = (style: Style): boolean => Object.values(style).every((value) => !value);

const COLORS: Record<Colour, string | undefined> = {
  black: 'var(--ink-soft)',
  red: 'var(--error)',
  green: 'var(--success)',
  yellow: 'var(--timeout)',
  blue: 'var(--accent)',
  magenta: 'var(--magenta)',
  cyan: 'var(--cyan)',
  white: undefined,
};

const BACKGROUNDS: Partial<Record<Colour, string>> = {
  red: 'var(--error-wash)',
  green: 'var(--success-wash)',
  yellow: 'var(--timeout-wash)',
  blue: 'var(--accent-wash)',
  cyan: 'var(--accent-wash)',
};

function toCss({ colour, background, bold, dim, italic, underline, inverse }: Style): CSSProperties {
  const text = inverse ? background : colour;
  const behind = inverse ? (colour ?? 'white') : background;
  return {
    color: dim ? 'var(--ink-soft)' : text && COLORS[text],
    background: behind && (BACKGROUNDS[behind] ?? 'var(--idle-wash)'),
    borderRadius: behind && 2,
    fontWeight: bold ? 700 : undefined,
    fontStyle: italic ? 'italic' : undefined,
    textDecoration: underline ? 'underline' : undefined,
  };
}

/**
 * Parses terminal colours of log lines. Only SGR sequences have an effect: any other control sequence for a terminal
 * is left out, and all of it stays text.
 */
export type Colour = 'black' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'white';

export interface Style {
  colour?: Colour;
  background?: Colour;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
}

interface Segment {
  text: string;
  style: Style;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;
const COLOURS: Colour[] = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

/**
 * CSI and OSC sequences, the two-character ones, and control characters that no text contains. Linear: each class
 * ends where the next begins.
 */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /\u001b(?:\[([0-9:;<=>?]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])|[\u0000-\u0008\u000b-\u001f\u007f]/g;

export const hasSequences = (text: string): boolean => CONTROL.test(text);

export const stripSequences = (text: string): string => text.replace(SEQUENCE, '');

export function parseSegments(text: string): Segment[] {
  const pieces: Segment[] = [];
  let style: Style = {};
  let at = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), style });
    at = match.index + match[0].length;
    if (match[2] === 'm') style = applyCodes(style, match[1] ?? '');
  }
  if (at < text.length) pieces.push({ text: text.slice(at), style });
  return pieces;
}

function applyCodes(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number);
  let style = { ...before };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) style = {};
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.inverse = true;
    else if (code === 22) style = { ...style, bold: false, dim: false };
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.inverse = false;
    else if (code === 38 || code === 48) {
      const extended = parseExtendedColour(codes.slice(i + 1));
      if (code === 38) style.colour = extended.colour;
      else style.background = extended.colour;
      i += extended.used;
    } else if (code === 39) style.colour = undefined;
    else if (code === 49) style.background = undefined;
    else style = { ...style, ...toNamedStyle(code) };
  }
  return style;
}

/** Returns bright colours like the others: the palette of the page keeps both readable. */
function toNamedStyle(code: number): Style {
  const tens = Math.floor(code / 10);
  const colour = COLOURS[code % 10];
  if (tens === 3 || tens === 9) return { colour };
  if (tens === 4 || tens === 10) return { background: colour };
  return {};
}

/** Maps `5;n` of the 256 colours, or `2;r;g;b`, to the nearest of the eight. */
function parseExtendedColour([mode, ...rest]: number[]): { colour: Colour | undefined; used: number } {
  if (mode === 2) return { colour: findNearestColour(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), used: 4 };
  if (mode !== 5) return { colour: undefined, used: 0 };
  const index = rest[0] ?? 0;
  if (index < 16) return { colour: COLOURS[index % 8], used: 2 };
  if (index >= 232) return { colour: index < 244 ? 'black' : 'white', used: 2 };
  const cube = index - 16;
  const [red, green, blue] = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6];
  return { colour: findNearestColour(red * 51, green * 51, blue * 51), used: 2 };
}

/** Finds the colour with those components that are near the strongest. */
function findNearestColour(red: number, green: number, blue: number): Colour {
  const strongest = Math.max(red, green, blue);
  if (strongest < 64) return 'black';
  const toBit = (value: number, weight: number) => (value > strongest * 0.6 ? weight : 0);
  return COLOURS[toBit(red, 1) + toBit(green, 2) + toBit(blue, 4)] ?? 'white';
}

/**
 * Text for a terminal. Everything that comes from a server, a file or an argument is escaped when it becomes part of a Text, so
 * that nothing but our own styles can move the cursor, set a title or recolour what follows.
 */
import pc from 'picocolors';

export class Text {
  constructor(readonly value: string) {}
  toString(): string {
    return this.value;
  }
}

type TextPart = Text | string | number | null | undefined;

/** Control characters, except tab and newline; C1 controls; marks that reorder what is read. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes control characters visible, such as `\x1b`. */
export function escapeControls(value: string): string {
  return value.replaceAll('\r\n', '\n').replace(CONTROLS, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

const toSafeString = (part: TextPart): string =>
  part instanceof Text ? part.value : escapeControls(String(part ?? ''));

/** Template tag: `text\`run ${id} ended\`` escapes each value that is not a Text. */
export function text(parts: TemplateStringsArray, ...values: TextPart[]): Text {
  return new Text(String.raw({ raw: parts }, ...values.map(toSafeString)));
}

export const toText = (part: TextPart): Text => new Text(toSafeString(part));

/** One line of it: newlines become spaces. */
export const toSingleLine = (part: TextPart): Text => {
  const lines = toSafeString(part).split('\n');
  return new Text(lines.map((line) => line.trim()).join(' '));
};

/** A word as POSIX shells read it. */
export const quoteForSh = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;

/** An argument of a command that is shown, quoted where a shell would split or expand it. */
export const formatArgument = (value: string): string => (/^[\w./-]+$/.test(value) ? value : quoteForSh(value));

/** A number and its noun: `1 secret`, `2 secrets`. */
export const formatCount = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

export const joinLines = (lines: TextPart[]): Text => new Text(lines.map(toSafeString).join('\n'));

const isColored =
  !process.env.NO_COLOR &&
  process.env.TERM !== 'dumb' &&
  (process.env.FORCE_COLOR ? true : process.stderr.isTTY === true);
const colors = pc.createColors(isColored && (process.stdout.isTTY === true || Boolean(process.env.FORCE_COLOR)));

const style = (paint: (value: string) => string) => (part: TextPart) => new Text(paint(toSafeString(part)));
export const bold = style(colors.bold);
export const dim = style(colors.dim);
export const red = style(colors.red);
export const green = style(colors.green);
export const yellow = style(colors.yellow);
export const cyan = style(colors.cyan);

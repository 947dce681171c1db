/** Markup from template literals: every value is escaped unless it is markup itself. */
import { escapeHtml } from '@gantry/http';

export class Html {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

type Value = string | number | Html | null | undefined | false | Value[];

/** Values are safe in text and in quoted attributes, nowhere else: not in tags, names, scripts or styles. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(strings.reduce((text, part, index) => text + toMarkup(values[index - 1]) + part));
}

function toMarkup(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) return value.map(toMarkup).join('');
  return value instanceof Html ? value.text : escapeHtml(String(value));
}

/** Marks a string as safe markup: the caller vouches for it. */
export const toTrustedHtml = (text: string): Html => new Html(text);

/** Checks the text of a field and turns it into the value that a run is started with. */
import type { InputItem } from '../shell/api';

/** A file stays a File until the form is sent. */
export type FieldValue = string | boolean | File | null;
type ParsedInput = { value: unknown } | { problem: string } | { absent: true };

export const getInputLabel = (item: InputItem): string => item.label ?? item.name;

export function toInitialValue(item: InputItem, initialValue: unknown = item.default): FieldValue {
  if (item.type === 'boolean') return initialValue === true;
  if (item.type === 'file') return null;
  if (initialValue === undefined || initialValue === null) return '';
  return item.type === 'json' && typeof initialValue !== 'string'
    ? JSON.stringify(initialValue, null, 2)
    : String(initialValue);
}

/** Options may be given as `{value, label}` or as bare values; a form can only send text, so the text is the key. */
export function listInputOptions(item: InputItem): { key: string; label: string; value: unknown }[] {
  return (item.options ?? []).map((option: unknown) => {
    if (typeof option !== 'object' || option === null)
      return { key: String(option), label: String(option), value: option };
    const { value, label } = option as { value?: unknown; label?: unknown };
    return { key: String(value), label: String(label ?? value), value };
  });
}

export function parseFieldValue(item: InputItem, fieldValue: FieldValue): ParsedInput {
  if (item.type === 'boolean') return { value: fieldValue === true };
  if (item.type === 'file')
    return fieldValue instanceof File ? parseFile(item, fieldValue) : toMissingInput(item, 'Choose a file.');
  const text = typeof fieldValue === 'string' ? fieldValue : '';
  const isText = item.type === undefined || item.type === 'text' || item.type === 'textarea';
  if (isText ? text === '' : text.trim() === '') {
    // Emptying a text field that had a default means "empty", not "the default again".
    if (isText && !item.required && typeof item.default === 'string' && item.default) return { value: '' };
    return toMissingInput(item, item.type === 'select' ? 'Choose an option.' : 'This field is required.');
  }
  switch (item.type) {
    case 'number':
    case 'integer':
      return parseNumber(item, text.trim());
    case 'select': {
      const option = listInputOptions(item).find(({ key }) => key === text);
      return option ? { value: option.value } : { problem: 'Choose an option from the list.' };
    }
    case 'date':
      return Number.isNaN(Date.parse(text)) ? { problem: 'Enter a date, such as 2026-03-31.' } : { value: text };
    case 'url':
      return isHttpUrl(text.trim())
        ? parseText(item, text.trim())
        : { problem: 'Enter a full URL, such as https://example.com/page.' };
    case 'json':
      return parseJson(text);
    default:
      return parseText(item, text);
  }
}

const toMissingInput = (item: InputItem, problem: string): ParsedInput =>
  item.required ? { problem } : { absent: true };

function parseText(item: InputItem, text: string): ParsedInput {
  const { min_length: min, max_length: max } = item;
  const length = [...text].length;
  if (min !== undefined && length < min) return { problem: `Use at least ${min} characters (currently ${length}).` };
  if (max !== undefined && length > max) return { problem: `Use at most ${max} characters (currently ${length}).` };
  // A pattern is left to the server: it is untrusted, and the browser's engine may run forever on it.
  return { value: text };
}

function parseNumber(item: InputItem, text: string): ParsedInput {
  const value = Number(text);
  if (!Number.isFinite(value)) return { problem: 'Enter a number, such as 12.5.' };
  if (item.type === 'integer' && !Number.isSafeInteger(value)) return { problem: 'Enter a whole number.' };
  if (item.minimum !== undefined && value < item.minimum) return { problem: `Enter ${item.minimum} or more.` };
  if (item.maximum !== undefined && value > item.maximum) return { problem: `Enter ${item.maximum} or less.` };
  return { value };
}

function parseJson(text: string): ParsedInput {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `Invalid JSON: ${error instanceof Error ? error.message : error}` };
  }
}

const MB = 1024 * 1024;

function parseFile(item: InputItem, file: File): ParsedInput {
  const { max_size_mb: max } = item;
  if (max === undefined || file.size <= max * MB) return { value: file };
  return { problem: `Choose a file of up to ${max} MB. This file is ${(file.size / MB).toFixed(1)} MB.` };
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** A check in its form: every field is text until it is sent. */
import type { Check, CheckInput } from '../shell/api';
import { isJsonObject } from '../ui/json';

export type CheckKind = Check['kind'];

export interface CheckDraft {
  /** A key within this form. */
  id: string;
  kind: CheckKind;
  path: string;
  value: string;
  tolerance: string;
  ignoresCase: boolean;
  schema: string;
  instructions: string;
  model: string;
  threshold: string;
  errorContains: string;
}

/** A field of a check, and its problem. */
export type CheckProblem = {
  field: 'path' | 'value' | 'tolerance' | 'schema' | 'instructions' | 'threshold';
  words: string;
};

let count = 0;

export const createCheckDraft = (kind: CheckKind = 'equal'): CheckDraft => ({
  id: `check-${++count}`,
  kind,
  path: '',
  value: '',
  tolerance: '',
  ignoresCase: true,
  schema: '',
  instructions: '',
  model: '',
  threshold: '',
  errorContains: '',
});

export function toCheckDraft(check: Check): CheckDraft {
  const draft = { ...createCheckDraft(check.kind), path: 'path' in check ? (check.path ?? '') : '' };
  switch (check.kind) {
    case 'equal':
      return { ...draft, value: formatValue(check.value), tolerance: check.tolerance?.toString() ?? '' };
    case 'contains':
      return { ...draft, value: formatValue(check.value), ignoresCase: check.ignore_case ?? false };
    case 'schema':
      return { ...draft, schema: JSON.stringify(check.schema, null, 2) };
    case 'judge': {
      const { instructions, model = '', threshold } = check;
      return { ...draft, instructions, model, threshold: String(threshold) };
    }
    case 'fails':
      return { ...draft, errorContains: check.error_contains ?? '' };
  }
}

/** Formats a value; text that would be parsed as another type keeps its quotes. */
export const formatValue = (value: unknown): string =>
  typeof value === 'string' && typeof parseValue(value) === 'string' && value.trim() === value && value !== ''
    ? value
    : JSON.stringify(value, null, typeof value === 'object' ? 2 : undefined);

/** Parses JSON; returns any other text itself. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Describes the type that a value will be parsed as. */
export function describeValueType(text: string): string {
  const value = parseValue(text);
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return { number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? 'text';
}

export function parseCheckDraft(draft: CheckDraft): CheckInput | CheckProblem {
  const { kind } = draft;
  const path = draft.path.trim();
  if (path && !path.startsWith('/')) return { field: 'path', words: 'Start with a slash, or leave this field empty.' };
  const at = path && kind !== 'fails' ? { path } : {};
  switch (kind) {
    case 'equal': {
      if (!draft.value.trim()) return { field: 'value', words: 'Enter a value.' };
      const tolerance = parseNumber(draft.tolerance, 0, Number.MAX_VALUE);
      if (tolerance === null) return { field: 'tolerance', words: 'Enter 0 or a positive number.' };
      return { kind, ...at, value: parseValue(draft.value), ...(tolerance !== undefined && { tolerance }) };
    }
    case 'contains':
      if (!draft.value.trim()) return { field: 'value', words: 'Enter a value.' };
      return { kind, ...at, value: parseValue(draft.value), ignore_case: draft.ignoresCase };
    case 'schema': {
      const schema = parseValue(draft.schema);
      if (!isJsonObject(schema)) return { field: 'schema', words: 'Enter a JSON Schema object.' };
      return { kind, ...at, schema };
    }
    case 'judge': {
      if (!draft.instructions.trim()) return { field: 'instructions', words: 'Enter instructions.' };
      const threshold = parseNumber(draft.threshold, 0, 1);
      if (threshold === null) return { field: 'threshold', words: 'Enter a number from 0 to 1.' };
      const optional = { ...(draft.model && { model: draft.model }), ...(threshold !== undefined && { threshold }) };
      return { kind, ...at, instructions: draft.instructions.trim(), ...optional };
    }
    case 'fails':
      return { kind, ...(draft.errorContains.trim() && { error_contains: draft.errorContains.trim() }) };
  }
}

export const isCheckProblem = (result: CheckInput | CheckProblem): result is CheckProblem =>
  'words' in result && 'field' in result;

/** Parses a number; undefined where the text is empty, null where it is not a number in the range. */
export function parseNumber(text: string, min: number, max: number): number | null | undefined {
  if (!text.trim()) return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= min && value <= max ? value : null;
}

/** Formats validation problems as sentences about the field: "is required", "must be a text". */
import type { z } from 'zod';
import type { FieldProblem } from './errors';

/** The part of an Ajv error that its sentence is built from. */
export interface SchemaProblem {
  keyword: string;
  // biome-ignore lint/suspicious/noExplicitAny: as Ajv types it; each keyword has its own
  params: Record<string, any>;
  message?: string | undefined;
  /** Known with Ajv's `verbose`. */
  parentSchema?: object | undefined;
}

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Record<string, string> = {
  'date-time': 'a date and time with a time zone, such as 2026-01-05T09:00:00Z',
  date: 'a date, such as 2026-01-05',
  email: 'an email address',
  uri: 'a URL that begins with http:// or https://',
};

/** By their source in the OpenAPI files. */
const PATTERNS: [RegExp, string][] = [
  [/^\^\[A-Z\]\[A-Z0-9_\]/, 'may contain only capital letters, digits and _, and must begin with a letter'],
  [/^\^\[a-z0-9\]\[a-z0-9-\]/, 'must be 3 to 64 characters: lower-case letters, digits and -, with no - at either end'],
  [/^\^\[a-z\]\[a-z0-9_\]/, 'may contain only lower-case letters, digits and _, and must begin with a letter'],
  [/^\^\[A-Za-z0-9_-\]/, 'may contain only letters, digits, - and _'],
  [
    /^\^\[A-Za-z0-9\]\[A-Za-z0-9\._-\]/,
    'may contain only letters, digits, ., _ and -, and must begin with a letter or digit',
  ],
  [/^\^\[A-Za-z_\]\[A-Za-z0-9_\]/, 'may contain only letters, digits and _, and must not begin with a digit'],
  [/^\^(sha256:)?\[0-9a-f\]/, 'must be a hexadecimal digest'],
  [/^\^\[!-~\]/, 'may contain only visible ASCII characters'],
  [/\(\?=\.\*\\S\)/, 'must not be blank or contain control characters'],
  [/\(\?=\[\\s\\S\]\*\\S\)/, 'must not be blank or contain NUL'],
  [/\\x00-\\x1f/, 'must not contain control characters'],
  [/\^\\s\*\[\^\\s/, 'must not be blank'],
  [/^\^\[\^(\\x00|\\u0000|\0)\]/, 'must not contain NUL'],
  [/^\^20\[0-9\]\{2\}-/, 'must be a month, such as 2026-01'],
  [/^\^aut_/, 'must be an automation id'],
  [/^\^key_/, 'must be a key id'],
  [
    /^\^\(path\|/,
    'must be path, header, query, cookie or body, or one of the last four with a name, such as query:key',
  ],
  [/^\^\/\(/, 'must be a dashboard path, such as /workers'],
];

const describeType = (name: string): string => TYPES[name] ?? name;
const describeTypes = (names: string | string[]): string => [names].flat().map(describeType).join(' or ');
const formatCount = (count: number, singular: string): string => `${count} ${singular}${count === 1 ? '' : 's'}`;
const formatAtLeast = (count: number, one: string): string =>
  count === 1 ? 'must not be empty' : `needs at least ${formatCount(count, one)}`;
const formatAtMost = (count: number, one: string): string => `may have at most ${formatCount(count, one)}`;

export function formatProblem({ keyword, params, message, parentSchema }: SchemaProblem): string {
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const { properties = {} } = (parentSchema ?? {}) as { properties?: object };
      // A body that also has outputs declares a program's inputs.
      const takesInputs = 'inputs' in properties && !('outputs' in properties);
      return takesInputs ? 'unknown property; if it is an input, put it under inputs' : 'unknown property';
    }
    case 'type':
      return `must be ${describeTypes(params.type)}`;
    case 'enum':
      return `must be one of: ${params.allowedValues.join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'format':
      return `must be ${FORMATS[params.format] ?? `a ${params.format}`}`;
    case 'pattern':
      return PATTERNS.find(([source]) => source.test(params.pattern))?.[1] ?? `must match ${params.pattern}`;
    case 'minLength':
      return formatAtLeast(params.limit, 'character');
    case 'maxLength':
      return formatAtMost(params.limit, 'character');
    case 'minItems':
      return formatAtLeast(params.limit, 'item');
    case 'maxItems':
      return formatAtMost(params.limit, 'item');
    case 'minProperties':
      return params.limit === 1 ? 'must not be empty' : `needs at least ${params.limit} properties`;
    case 'maxProperties':
      return `has too many properties; the limit is ${params.limit}`;
    case 'minimum':
      return `must be ${params.limit} or more`;
    case 'maximum':
      return `must be ${params.limit} or less`;
    case 'exclusiveMinimum':
      return `must be more than ${params.limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${params.limit}`;
    case 'uniqueItems':
      return 'must not contain duplicate items';
    case 'oneOf':
    case 'anyOf':
      return 'does not match any of the allowed forms';
    default:
      return message ?? 'is wrong';
  }
}

/** Formats Zod's issues with their paths below `root`. */
export function formatIssues({ issues }: z.ZodError, root: string[] = []): FieldProblem[] {
  return issues.flatMap((issue) => {
    const path = [...root, ...issue.path.map(String)];
    if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.') || 'body', message: formatIssue(issue) }];
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'unknown property' }));
  });
}

const UNITS: Record<string, string> = { string: 'character', array: 'item' };

function formatIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (/received undefined$/.test(issue.message)) return 'is required';
      return `must be ${describeType(issue.expected === 'int' ? 'integer' : issue.expected)}`;
    case 'invalid_value':
      return `must be one of: ${issue.values.map(String).join(', ')}`;
    case 'too_small': {
      const unit = UNITS[issue.origin];
      if (unit) return formatAtLeast(Number(issue.minimum), unit);
      return issue.inclusive ? `must be ${issue.minimum} or more` : `must be more than ${issue.minimum}`;
    }
    case 'too_big': {
      const unit = UNITS[issue.origin];
      if (unit) return formatAtMost(Number(issue.maximum), unit);
      return issue.inclusive ? `must be ${issue.maximum} or less` : `must be less than ${issue.maximum}`;
    }
    case 'invalid_union':
      return issue.message === 'Invalid input' ? 'does not match any of the allowed forms' : issue.message;
    default:
      return issue.message;
  }
}

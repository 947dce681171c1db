import vm from 'node:vm';
import { type FieldProblem, invalid } from '@gantry/http';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import { type InputSchema, inputSchemaOf } from './input-schema';
import type { InputItem } from './items';

/** The inputs of one program, compiled. */
export interface InputValidator {
  schema: InputSchema;
  /** @returns the inputs with defaults filled in. @throws AppError 400 naming every input that is wrong */
  check(inputs: Record<string, unknown>): Record<string, unknown>;
  /** What `check` would throw for. */
  problems(inputs: Record<string, unknown>): FieldProblem[];
}

const PATTERN_MS_MAX = 250;
/** With one repetition at most, a match costs no more than the square of this. */
const PLAIN_CHARS_MAX = 1_000;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

export function createInputValidator(items: InputItem[]): InputValidator {
  const schema = inputSchemaOf(items);
  const validate = compile(schema);
  const names = Object.keys(schema.properties);
  return {
    schema,
    check: (inputs) => {
      const filled = { ...inputs };
      if (validate(filled)) return filled;
      throw invalid(problemsOf(validate.errors ?? [], names), 'invalid_inputs');
    },
    problems: (inputs) => (validate({ ...inputs }) ? [] : problemsOf(validate.errors ?? [], names)),
  };
}

/**
 * Whether the defaults of the items are what their own types allow.
 * @param path where the items lie in the request
 */
export function checkDefaults(items: InputItem[], path: string): FieldProblem[] {
  const schema = inputSchemaOf(items);
  return items.flatMap(({ name, default: value }, index) => {
    if (value === undefined) return [];
    const validate = compile({ ...schema, required: [] });
    if (validate({ [name]: value })) return [];
    const message = validate.errors?.[0]?.message ?? 'does not fit';
    return [{ path: `${path}.${index}.default`, message }];
  });
}

/** An Ajv of its own for each schema: a shared one would keep every schema that it has seen. */
function compile(schema: InputSchema): ValidateFunction {
  const ajv = new Ajv2020({
    allErrors: true,
    useDefaults: true,
    strict: false,
    validateSchema: false,
    code: { regExp: boundedRegExp },
  });
  ajv.addFormat('date', isDate);
  ajv.addFormat('uri', isWebAddress);
  return ajv.compile(schema);
}

function problemsOf(errors: ErrorObject[], names: string[]): FieldProblem[] {
  return errors.map(({ keyword, instancePath, params, message = 'is wrong' }) => {
    const where = ['inputs', ...instancePath.split('/').slice(1).map(unescapePointer)];
    if (keyword === 'required') return { path: [...where, params.missingProperty].join('.'), message: 'is required' };
    if (keyword === 'additionalProperties') {
      const path = [...where, params.additionalProperty].join('.');
      return { path, message: where.length > 1 ? 'unknown property' : `unknown input; known: ${listOf(names)}` };
    }
    if (keyword === 'enum') return { path: where.join('.'), message: `must be one of ${listOf(params.allowedValues)}` };
    return { path: where.join('.'), message };
  });
}

const listOf = (values: unknown[]) => (values.length ? values.slice(0, 20).map(String).join(', ') : 'none');
const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');

/**
 * The pattern is the program's, the text is a stranger's, and JavaScript's expressions can take for ever: where that is
 * possible, each match gets PATTERN_MS_MAX in a context of its own, which V8 can interrupt. Too slow counts as no match.
 */
const boundedRegExp = Object.assign(
  (pattern: string) => {
    const isPlain = (pattern.match(/[*+?{]|\\[1-9k]/g) ?? []).length <= 1;
    const expression = new RegExp(pattern, 'u');
    return {
      test: (text: string) =>
        isPlain && text.length <= PLAIN_CHARS_MAX ? expression.test(text) : testInTime(pattern, text),
      // Ajv tells expressions apart by their text.
      toString: () => pattern,
    };
  },
  { code: 'unused: only standalone code would print it' },
);

const arena = vm.createContext({});
const matches = new vm.Script('new RegExp(pattern, "u").test(text)');

function testInTime(pattern: string, text: string): boolean {
  Object.assign(arena, { pattern, text });
  try {
    return matches.runInContext(arena, { timeout: PATTERN_MS_MAX });
  } catch {
    return false;
  }
}

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (!year || !month || !day) return false;
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

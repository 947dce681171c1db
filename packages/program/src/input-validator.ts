import { type FieldProblem, formatProblem, invalid } from '@gantry/errors';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020';
import { type InputSchema, toInputSchema } from './input-schema';
import type { InputItem } from './items';
import { createMatchers, createPatternBudget, type PatternBudget } from './user-pattern';

/** Validates the inputs of one program. */
export type InputValidator = ReturnType<typeof createInputValidator>;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

export function createInputValidator(items: InputItem[]) {
  const schema = toInputSchema(items);
  const validate = compile(schema);
  const names = Object.keys(schema.properties);
  return {
    schema,
    /** @returns the inputs with defaults filled in. @throws AppError 400 naming every invalid input */
    check: (inputs: Record<string, unknown>): Record<string, unknown> => {
      const filled = { ...inputs };
      const errors = validate(filled, createPatternBudget());
      if (errors.length) throw invalid(toFieldProblems(errors, names), 'invalid_inputs');
      return filled;
    },
    /**
     * Lists the problems for which `check` would throw.
     * @param budget shared by all checks of one request, if there are several
     */
    listProblems: (inputs: Record<string, unknown>, budget: PatternBudget = createPatternBudget()): FieldProblem[] =>
      toFieldProblems(validate({ ...inputs }, budget), names),
  };
}

/**
 * Checks that the items' defaults are allowed by their own types.
 * @param path position of the items in the request
 */
export function checkDefaults(items: InputItem[], path: string): FieldProblem[] {
  const budget = createPatternBudget();
  return items.flatMap((item, index) => {
    const { name, default: value } = item;
    if (value === undefined) return [];
    const errors = compile({ ...toInputSchema([item]), required: [] })({ [name]: value }, budget);
    return toFieldProblems(errors.slice(0, 1), [name]).map(({ message }) => ({
      path: `${path}.${index}.default`,
      message,
    }));
  });
}

type Validate = (inputs: Record<string, unknown>, budget: PatternBudget) => ErrorObject[];

/** A separate Ajv for each schema: a shared one would retain every schema it has compiled. */
function compile(schema: InputSchema): Validate {
  let budget = createPatternBudget();
  let problems = new Map<string, string>();
  const createMatcher = createMatchers();
  const regExp = (pattern: string) => {
    const matches = createMatcher(pattern);
    return {
      test: (text: string) => {
        const found = matches(text, budget);
        if (typeof found === 'boolean') return found;
        problems.set(pattern, found.problem);
        return false;
      },
      // Ajv identifies expressions by their text.
      toString: () => pattern,
    };
  };
  const ajv = new Ajv2020({
    allErrors: true,
    useDefaults: true,
    strict: false,
    validateSchema: false,
    code: { regExp: Object.assign(regExp, { code: 'unused: only standalone code would contain it' }) },
  });
  ajv.addFormat('date', isDate);
  ajv.addFormat('uri', isWebAddress);
  const validate = ajv.compile(schema);
  return (inputs, newBudget) => {
    budget = newBudget;
    problems = new Map();
    if (validate(inputs)) return [];
    return (validate.errors ?? []).map((error) => {
      if (error.keyword !== 'pattern') return error;
      return { ...error, message: problems.get(error.params.pattern) ?? `must match ${error.params.pattern}` };
    });
  };
}

function toFieldProblems(errors: ErrorObject[], names: string[]): FieldProblem[] {
  return errors.map((error) => {
    const { keyword, instancePath, params, message = 'is wrong' } = error;
    const where = ['inputs', ...instancePath.split('/').slice(1).map(unescapePointer)];
    if (keyword === 'required') return { path: [...where, params.missingProperty].join('.'), message: 'is required' };
    if (keyword === 'additionalProperties') {
      const path = [...where, params.additionalProperty].join('.');
      return { path, message: where.length > 1 ? 'unknown property' : `unknown input; known: ${formatList(names)}` };
    }
    const path = where.join('.');
    if (keyword === 'enum') return { path, message: `must be one of: ${formatList(params.allowedValues)}` };
    if (keyword === 'type' && params.type === 'object') return { path, message: AS_FILE };
    if (keyword !== 'pattern') return { path, message: formatProblem(error) };
    return { path, message: where.length > 2 ? 'must be a file name without / or \\' : message };
  });
}

/** The only inputs with the type object are files. */
const AS_FILE = 'must be a file with a name and either content_base64 or the storageKey of an upload';
const formatList = (values: unknown[]) => (values.length ? values.slice(0, 20).map(String).join(', ') : 'none');
const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (!year || !month || !day) return false;
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

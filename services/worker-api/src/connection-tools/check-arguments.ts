/**
 * Validates arguments of a tool against its input schema, which a server or a model may have written: interpreted in a
 * bounded number of steps, and not compiled. Each step costs about a microsecond, whatever schema and value are:
 * costlier checks take more steps. Patterns, formats and references are left to the tool.
 */
import { type Choices, findChoice, indexChoices, type KnownTexts } from './schema-choices';

const STEPS_MAX = 10_000;
const MISMATCH_STEPS_MAX = 100_000;
const PROBLEMS_MAX = 5;
const NAME_CHARS_MAX = 300;
const LISTED_CHARS_MAX = 300;
/** Counting this many characters takes as long as one step. */
const CHARS_PER_STEP = 256;
/** The same for serializing values in their canonical form. */
const CANONICAL_CHARS_PER_STEP = 8;

type Schema = Record<string, unknown>;

export interface SchemaProblem {
  /** Path of the invalid part; empty for the whole value. */
  path: string;
  /** Also names the part. */
  message: string;
}

/** @returns messages that name the invalid argument; empty: no problem was found */
export function listArgumentProblems(schema: Schema, callArguments: Record<string, unknown>): string[] {
  return listSchemaProblems(schema, callArguments, 'the arguments');
}

/** @param rootName name of the whole value in messages */
export function listSchemaProblems(schema: Schema, value: unknown, rootName: string): string[] {
  return createSchemaChecker(STEPS_MAX, rootName)
    .listProblems(schema, value)
    .map(({ message }) => message);
}

/** Reports a value that is too large to check as invalid, unlike listSchemaProblems. */
export const listMismatchMessages = (schema: Schema, value: unknown, rootName: string): string[] =>
  listMismatches(schema, value, rootName).map(({ message }) => message);

/** Returns the same problems with their paths. */
export function listMismatches(schema: Schema, value: unknown, rootName: string): SchemaProblem[] {
  const walk = createSchemaChecker(MISMATCH_STEPS_MAX, rootName);
  const problems = walk.listProblems(schema, value);
  return walk.isExhausted() ? [...problems, { path: '', message: `${rootName} is too large to check` }] : problems;
}

function createSchemaChecker(stepsMax: number, rootName: string) {
  let steps = stepsMax;
  const choicesBySchema = new Map<Schema, Choices>();
  const knownTexts: KnownTexts = new Map();

  /** @returns false: the rest is not checked */
  function consumeSteps(count: number): boolean {
    steps -= count;
    return steps >= 0;
  }

  /** Adds problems to the list until there are enough of them. */
  function checkValue(schema: unknown, value: unknown, path: string, problems: SchemaProblem[]): void {
    if (problems.length >= PROBLEMS_MAX || !isObject(schema) || '$ref' in schema || !consumeSteps(1)) return;
    const name = path.slice(0, NAME_CHARS_MAX) || rootName;
    const problem = findTypeProblem(schema, value, name) ?? findEnumProblem(schema, value, name);
    if (problem !== null) return void addProblem(problems, path, problem);
    for (const key of ['anyOf', 'oneOf']) {
      const found = findAlternativeProblems(schema[key], value, path);
      if (found) return void problems.push(...found);
    }
    if (typeof value === 'number') addProblem(problems, path, findBoundsProblem(schema, value, name));
    else if (typeof value === 'string') addProblem(problems, path, findTextLengthProblem(schema, value, name));
    else if (Array.isArray(value)) {
      addProblem(problems, path, findLengthProblem(schema, value.length, 'Items', `the number of items in ${name}`));
      if (!isObject(schema.items)) return;
      for (let at = 0; at < value.length && steps >= 0 && problems.length < PROBLEMS_MAX; at++)
        checkValue(schema.items, value[at], `${path}[${at}]`, problems);
    } else if (isObject(value)) checkObject(schema, value, path, problems);
  }

  function findTypeProblem({ type }: Schema, value: unknown, name: string): string | null {
    const types = [type].flat().filter((one) => typeof one === 'string');
    if (!types.length || !consumeSteps(types.length - 1) || types.some((one) => isOfType(one, value))) return null;
    return `${name} must be of type ${types.join(' or ').slice(0, LISTED_CHARS_MAX)}`;
  }

  function findEnumProblem(schema: Schema, value: unknown, name: string): string | null {
    const isConst = 'const' in schema;
    if (!isConst && !Array.isArray(schema.enum)) return null;
    const choices = choicesBySchema.get(schema) ?? indexChoices(isConst ? [schema.const] : (schema.enum as unknown[]));
    choicesBySchema.set(schema, choices);
    const { isAmong, chars } = findChoice(choices, value, knownTexts);
    if (!consumeSteps(Math.ceil(chars / CANONICAL_CHARS_PER_STEP)) || isAmong) return null;
    return `${name} must be ${isConst ? '' : 'one of '}${choices.listed}`;
  }

  /** @returns problems with the first choice if the value matches none; null: it matches one, or there are none */
  function findAlternativeProblems(choices: unknown, value: unknown, path: string): SchemaProblem[] | null {
    if (!Array.isArray(choices)) return null;
    let first: SchemaProblem[] | null = null;
    for (const one of choices) {
      const found: SchemaProblem[] = [];
      checkValue(one, value, path, found);
      if (!found.length || steps < 0) return null;
      first ??= found;
    }
    return first;
  }

  function checkObject(schema: Schema, value: Schema, path: string, problems: SchemaProblem[]): void {
    const properties = isObject(schema.properties) ? schema.properties : {};
    const required = Array.isArray(schema.required) ? schema.required : [];
    const buildChildPath = (key: string) => (path ? `${path}.${key}` : key);
    if (!consumeSteps(required.length)) return;
    for (const key of required) {
      if (typeof key !== 'string' || Object.hasOwn(value, key)) continue;
      if (problems.length >= PROBLEMS_MAX) return;
      addProblem(problems, buildChildPath(key), `${buildChildPath(key).slice(0, NAME_CHARS_MAX)} is required`);
    }
    const isClosed = schema.additionalProperties === false && !('patternProperties' in schema);
    const keys = Object.keys(value);
    if (!consumeSteps(keys.length)) return;
    for (const key of keys) {
      if (steps < 0 || problems.length >= PROBLEMS_MAX) return;
      if (Object.hasOwn(properties, key)) checkValue(properties[key], value[key], buildChildPath(key), problems);
      else if (isClosed)
        addProblem(
          problems,
          buildChildPath(key),
          `${buildChildPath(key).slice(0, NAME_CHARS_MAX)} is unknown; there are ${formatNames(properties)}`,
        );
    }
  }

  function formatNames(properties: Schema): string {
    const names = Object.keys(properties);
    consumeSteps(names.length);
    return names.join(', ').slice(0, LISTED_CHARS_MAX) || 'none';
  }

  function findTextLengthProblem(schema: Schema, value: string, name: string): string | null {
    if (typeof schema.minLength !== 'number' && typeof schema.maxLength !== 'number') return null;
    if (!consumeSteps(Math.ceil(value.length / CHARS_PER_STEP))) return null;
    return findLengthProblem(schema, countCharacters(value), 'Length', `the length of ${name}`);
  }

  return {
    listProblems(schema: Schema, value: unknown): SchemaProblem[] {
      const problems: SchemaProblem[] = [];
      checkValue(schema, value, '', problems);
      return problems;
    },
    /** @returns whether a part was not checked */
    isExhausted: () => steps < 0,
  };
}

function addProblem(problems: SchemaProblem[], path: string, message: string | null): void {
  if (message !== null) problems.push({ path: path.slice(0, NAME_CHARS_MAX), message });
}

/** Counts code points, as JSON Schema does. */
function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function findBoundsProblem({ minimum, maximum }: Schema, value: number, name: string): string | null {
  if (typeof minimum === 'number' && value < minimum) return `${name} must be at least ${minimum}`;
  return typeof maximum === 'number' && value > maximum ? `${name} must be at most ${maximum}` : null;
}

function findLengthProblem(
  schema: Schema,
  length: number,
  sizeKeyword: 'Length' | 'Items',
  name: string,
): string | null {
  const { [`min${sizeKeyword}`]: least, [`max${sizeKeyword}`]: most } = schema;
  if (typeof least === 'number' && length < least) return `${name} must be at least ${least}`;
  return typeof most === 'number' && length > most ? `${name} must be at most ${most}` : null;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  const kind: string = typeof value;
  return kind === type || !['string', 'number', 'boolean'].includes(type);
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

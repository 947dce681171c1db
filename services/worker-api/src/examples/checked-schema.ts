/**
 * A check by a JSON Schema says only what is looked at: keywords that the validator passes over are refused when it is
 * written.
 */

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];
const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'];
/** They say nothing of the value. */
const NOTES = ['title', 'description', 'default', 'examples', '$schema', '$comment'];
const CHECKED = [
  'type',
  'enum',
  'const',
  'anyOf',
  'items',
  'properties',
  'required',
  'additionalProperties',
  ...BOUNDS,
];
const PROBLEMS_MAX = 5;

type Schema = Record<string, unknown>;

/** @param schema not nested deeper than a request may be. @returns what is wrong with it, in words; empty: nothing */
export function listUncheckedKeywords(schema: unknown): string[] {
  return listProblems(schema, 'the schema').slice(0, PROBLEMS_MAX);
}

function listProblems(schema: unknown, name: string): string[] {
  if (!isObject(schema)) return [`${name} must be an object`];
  const unknown = Object.keys(schema).filter((key) => ![...CHECKED, ...NOTES].includes(key));
  const { anyOf, items, properties } = schema;
  return [
    ...unknown.map((key) => `${name}: ${key} is not checked here; there are ${CHECKED.join(', ')}`),
    ...formatMalformed(schema).map((problem) => `${name}: ${problem}`),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((one, at) => listProblems(one, `${name}/anyOf/${at}`)) : []),
    ...(items === undefined ? [] : listProblems(items, `${name}/items`)),
    ...(isObject(properties)
      ? Object.entries(properties).flatMap(([key, one]) => listProblems(one, `${name}/properties/${key}`))
      : []),
  ];
}

function formatMalformed({
  type,
  enum: allowed,
  anyOf,
  properties,
  required,
  additionalProperties,
  ...rest
}: Schema): string[] {
  const types = Array.isArray(type) ? type : [type];
  const wrong = (key: string, given: unknown, isRight: boolean, what: string) =>
    given === undefined || isRight ? [] : [`${key} must be ${what}`];
  return [
    ...wrong('type', type, types.length > 0 && types.every((one) => TYPES.includes(one)), `one of ${TYPES.join(', ')}`),
    ...wrong('enum', allowed, Array.isArray(allowed), 'a list'),
    ...wrong('anyOf', anyOf, Array.isArray(anyOf) && anyOf.length > 0, 'a list of schemas'),
    ...wrong('properties', properties, isObject(properties), 'an object'),
    ...wrong('required', required, isListOfTexts(required), 'a list of names'),
    ...wrong('additionalProperties', additionalProperties, typeof additionalProperties === 'boolean', 'true or false'),
    ...BOUNDS.flatMap((key) => wrong(key, rest[key], typeof rest[key] === 'number', 'a number')),
  ];
}

const isListOfTexts = (given: unknown): boolean =>
  Array.isArray(given) && given.every((one) => typeof one === 'string');

const isObject = (given: unknown): given is Schema =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/**
 * A check by a JSON Schema says only what is looked at: keywords that the validator passes over are refused when it is
 * written.
 */

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];
const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'];
/** They say nothing of the value. */
const ANNOTATION_KEYWORDS = ['title', 'description', 'default', 'examples', '$schema', '$comment'];
const CHECKED_KEYWORDS = [
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
  const unknown = Object.keys(schema).filter((key) => ![...CHECKED_KEYWORDS, ...ANNOTATION_KEYWORDS].includes(key));
  const { anyOf, items, properties } = schema;
  return [
    ...unknown.map(
      (key) => `${name}: ${key} is not supported here; the checked keywords are ${CHECKED_KEYWORDS.join(', ')}`,
    ),
    ...listMalformedKeywords(schema).map((problem) => `${name}: ${problem}`),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((one, at) => listProblems(one, `${name}/anyOf/${at}`)) : []),
    ...(items === undefined ? [] : listProblems(items, `${name}/items`)),
    ...(isObject(properties)
      ? Object.entries(properties).flatMap(([key, one]) => listProblems(one, `${name}/properties/${key}`))
      : []),
  ];
}

function listMalformedKeywords({
  type,
  enum: allowed,
  anyOf,
  properties,
  required,
  additionalProperties,
  ...rest
}: Schema): string[] {
  const types = Array.isArray(type) ? type : [type];
  const toProblems = (key: string, value: unknown, isRight: boolean, expected: string) =>
    value === undefined || isRight ? [] : [`${key} must be ${expected}`];
  return [
    ...toProblems(
      'type',
      type,
      types.length > 0 && types.every((one) => TYPES.includes(one)),
      `one of ${TYPES.join(', ')}`,
    ),
    ...toProblems('enum', allowed, Array.isArray(allowed), 'a list'),
    ...toProblems('anyOf', anyOf, Array.isArray(anyOf) && anyOf.length > 0, 'a list of schemas'),
    ...toProblems('properties', properties, isObject(properties), 'an object'),
    ...toProblems('required', required, isStringArray(required), 'a list of names'),
    ...toProblems(
      'additionalProperties',
      additionalProperties,
      typeof additionalProperties === 'boolean',
      'true or false',
    ),
    ...BOUNDS.flatMap((key) => toProblems(key, rest[key], typeof rest[key] === 'number', 'a number')),
  ];
}

const isStringArray = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The published documents explain themselves: nothing in them is left to be guessed from its name. */
import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { publishedFiles } from './index';

interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  examples?: unknown[];
  enum?: unknown[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
}
interface Content {
  schema: Schema;
  example?: unknown;
}
interface Parameter {
  $ref?: string;
  name: string;
  description?: string;
}
interface Answer {
  $ref?: string;
  content?: Record<string, Content>;
}
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  responses: Record<string, Answer>;
}
interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, unknown>>;
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

function read(file: string) {
  const document: Document = JSON.parse(readFileSync(file, 'utf8'));
  const find = (ref: string): unknown =>
    ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key.replaceAll('~1', '/')], document);
  const follow = <T extends { $ref?: string }>(part: T): T => (part.$ref ? follow(find(part.$ref) as T) : part);
  const operations = Object.values(document.paths).flatMap((item) =>
    METHODS.flatMap((method) => {
      const operation = item[method] as Operation | undefined;
      const shared = (item.parameters as Parameter[] | undefined) ?? [];
      return operation ? [{ ...operation, parameters: [...shared, ...(operation.parameters ?? [])].map(follow) }] : [];
    }),
  );
  return { document, follow, operations };
}

/**
 * @returns what a schema gives as an example, itself or put together of its parts; undefined where a part gives none
 */
function buildExample(schema: Schema, follow: (one: Schema) => Schema): unknown {
  const { examples, enum: values, allOf, items, properties } = follow(schema);
  if (examples) return examples[0];
  if (values) return values[0];
  if (items) {
    const one = buildExample(items, follow);
    return one === undefined ? undefined : [one];
  }
  const parts = allOf?.map((part) => buildExample(part, follow)) ?? [];
  const own = Object.entries(properties ?? {}).map(([name, part]) => [name, buildExample(part, follow)] as const);
  const missing = [...parts, ...own.map(([, value]) => value)].includes(undefined);
  return missing || (!allOf && !properties) ? undefined : Object.assign({}, ...parts, Object.fromEntries(own));
}

const words = (text: string) =>
  text
    .toLowerCase()
    .match(/[a-z]+/g)
    ?.filter((word) => !EMPTY.has(word)) ?? [];
const EMPTY = new Set(['a', 'an', 'the', 'of', 'its', 'id', 'to']);

/** Whether a description has a word that the name, or summary, has not. */
function saysMore(description: string | undefined, name: string): boolean {
  const known = words(name.replaceAll('_', ' '));
  return words(description ?? '').some((word) => !known.includes(word));
}

describe.each(Object.entries(publishedFiles))('the document of the %s surface', (_surface, file) => {
  const { document, follow, operations } = read(file);

  test('describes every operation in more words than its summary has', () => {
    const bare = operations.filter(({ summary, description }) => !saysMore(description, summary));
    expect(bare.map(({ operationId }) => operationId)).toEqual([]);
  });

  test('describes every parameter by more than its name', () => {
    const bare = operations.flatMap(({ operationId, parameters }) =>
      parameters
        .filter(({ name, description }) => !saysMore(description, name))
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(bare).toEqual([]);
  });

  test('gives an example of every text response, and the example is valid', () => {
    const ajv = addFormats(new Ajv({ strict: false, allErrors: true }));
    ajv.addSchema({ ...document, $id: 'document' });
    const absolute = (schema: Schema): object =>
      JSON.parse(JSON.stringify(schema, (key, value) => (key === '$ref' ? `document${value}` : value)));
    const problems = operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([status, answer]) =>
          Object.entries(follow(answer).content ?? {}).map((one) => [status, ...one] as const),
        )
        .filter(([, , { schema }]) => follow(schema).format !== 'binary')
        .flatMap(([status, type, { schema, example = buildExample(schema, follow) }]) => {
          if (example === undefined) return [`${operationId} ${status} ${type} has none`];
          const validate = ajv.compile(absolute(schema));
          return validate(example) ? [] : [`${operationId} ${status} ${type}: ${ajv.errorsText(validate.errors)}`];
        }),
    );
    expect(problems).toEqual([]);
  });
});

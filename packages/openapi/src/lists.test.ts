/** Tests a rule of the contract: every list is paginated, and its description states its order. */
import { readFileSync } from 'node:fs';
import { openapiFiles } from './index';

interface Node {
  [key: string]: unknown;
}

/** Documents of a fixed shape, which are read whole. */
const NOT_IN_PAGES = new Set(['jwks', 'ready', 'getArtifactCode', 'getWorkerTimeseries', 'suggestMessages']);

const ORDER = /newest|oldest|first|sorted by|in order|in the order|order of/i;

interface List {
  id: string;
  parameters: string[];
  description: string;
}

function findLists(file: string): List[] {
  const document: Node = JSON.parse(readFileSync(file, 'utf8'));
  const follow = (value: unknown): Node => {
    const ref = (value as Node | undefined)?.$ref;
    if (typeof ref !== 'string') return (value ?? {}) as Node;
    const path = ref.slice(2).split('/');
    return follow(path.reduce<unknown>((at, key) => (at as Node)[key.replaceAll('~1', '/')], document));
  };
  return Object.values(document.paths as Record<string, Node>).flatMap((item) => {
    const get = item.get as Node | undefined;
    if (!get) return [];
    const answer = follow((get.responses as Node)['200']);
    const schema = follow(((answer.content as Node | undefined)?.['application/json'] as Node | undefined)?.schema);
    const properties = Object.values((schema.properties as Node | undefined) ?? {}).map((one) => follow(one).type);
    const isList = schema.type === 'array' || (properties.length <= 2 && properties.includes('array'));
    const parameters = [item.parameters, get.parameters].flatMap((some) => (some as unknown[] | undefined) ?? []);
    if (!isList || NOT_IN_PAGES.has(String(get.operationId))) return [];
    return {
      id: String(get.operationId),
      parameters: parameters.map((one) => String(follow(one).name)),
      description: `${get.summary}. ${get.description}`,
    };
  });
}

describe.each(Object.entries(openapiFiles))('every list of the %s surface', (_surface, file) => {
  const lists = findLists(file);

  test('takes limit and offset', () => {
    expect(lists.length).toBeGreaterThan(2);
    const without = lists.filter(({ parameters }) => !['limit', 'offset'].every((name) => parameters.includes(name)));
    expect(without.map(({ id }) => id)).toEqual([]);
  });

  test('states its order', () => {
    const silent = lists.filter(({ description }) => !ORDER.test(description));
    expect(silent.map(({ id }) => id)).toEqual([]);
  });
});

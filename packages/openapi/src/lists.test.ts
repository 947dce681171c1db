/** Every list can be read in pages: a rule of the contract for all surfaces. */
import { readFileSync } from 'node:fs';
import { openapiFiles } from './index';

interface Node {
  [key: string]: unknown;
}

/** Short by nature, or read from a place of their own onwards. */
const NOT_IN_PAGES = new Set([
  ...['jwks', 'ready', 'listWorkerTags', 'listWorkerFiles', 'listContextFiles', 'getArtifactCode'],
  ...['listRunLogs', 'listWorkerLogs', 'getWorkerTimeseries', 'listAlertDeliveries', 'listShares'],
]);

function listsOf(file: string): [id: string, parameters: string[]][] {
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
    return isList ? [[String(get.operationId), parameters.map((one) => String(follow(one).name))]] : [];
  });
}

test.each(Object.entries(openapiFiles))('every list of the %s surface takes limit and offset', (_surface, file) => {
  const lists = listsOf(file).filter(([id]) => !NOT_IN_PAGES.has(id));
  expect(lists.length).toBeGreaterThan(2);
  const without = lists.filter(([, names]) => !(names.includes('limit') && names.includes('offset')));
  expect(without.map(([id]) => id)).toEqual([]);
});

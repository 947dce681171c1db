/** Lists of all surfaces, item by item: each page names the next one in its `Link` header. */
import type { Client } from 'openapi-fetch';
import { toNotJsonError, unwrap } from './api-error';

/** The items of a list, which is the response itself or the one list in it. */
export type ItemsOf<Data> = Data extends readonly (infer Item)[]
  ? Item
  : { [Key in keyof Data]: Data[Key] extends readonly (infer Item)[] ? Item : never }[keyof Data];

type PathsWithGet<Paths> = {
  [Path in keyof Paths]: Paths[Path] extends { get: { responses: unknown } } ? Path : never;
}[keyof Paths];

type SuccessBody<Operation> = Operation extends {
  responses: { 200: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

type Parameters<Operation> = Operation extends { parameters: infer Given } ? Given : never;

export interface ListOptions<Operation> {
  params?: { query?: QueryOf<Operation>; path?: PathOf<Operation> };
  signal?: AbortSignal;
}
type QueryOf<Operation> = Parameters<Operation> extends { query?: infer Query } ? Query : never;
type PathOf<Operation> = Parameters<Operation> extends { path: infer Path } ? Path : never;

type GetOf<PathItem> = PathItem extends { get: infer Operation } ? Operation : never;

/**
 * Iterates over a list operation; a page is requested when the items of the one before have been read.
 * @throws ApiError
 */
export async function* paginate<Paths extends object, Path extends PathsWithGet<Paths>>(
  client: Client<Paths>,
  path: Path,
  options: ListOptions<GetOf<Paths[Path]>> = {},
): AsyncGenerator<ItemsOf<SuccessBody<GetOf<Paths[Path]>>>, void, undefined> {
  // The generic types of openapi-fetch cannot be resolved for a path that is itself a parameter.
  const get: UntypedGet = (...request) => Reflect.apply(client.GET, client, request);
  let query: object | null = options.params?.query ?? {};
  while (query) {
    const params = { ...options.params, query };
    const answer = get(String(path), { params, ...(options.signal && { signal: options.signal }) });
    const items = listItems(await unwrap(answer));
    const { response } = await answer;
    if (!items) throw toNotJsonError(response, 'the server responded with something other than a list');
    yield* items as ItemsOf<SuccessBody<GetOf<Paths[Path]>>>[];
    query = parseNextQuery(response.headers.get('Link'));
  }
}

type UntypedGet = (path: string, init: object) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

/** @returns undefined where there is none */
function listItems(data: unknown): unknown[] | undefined {
  if (Array.isArray(data)) return data;
  const lists = typeof data === 'object' && data !== null ? Object.values(data).filter(Array.isArray) : [];
  return lists[0];
}

/** The query of `<...>; rel="next"`, null on the last page. Its address is the server's: only the query is used. */
function parseNextQuery(link: string | null): Record<string, string> | null {
  const target = /<([^<>]*)>\s*;\s*rel="next"/.exec(link ?? '')?.[1];
  return target === undefined ? null : Object.fromEntries(new URL(target, 'http://next.invalid').searchParams);
}

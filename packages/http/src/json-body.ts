import { setImmediate as othersTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { AppError, invalid } from '@gantry/errors';
import type { Request } from 'express';
import { measureJsonSize } from './json-size';
import type { OperationBody } from './openapi-document';
import { assertStorableText, isStorableText, type NulPaths } from './request-text';
import { readBodyBytes } from './upload';
import './request';

export const JSON_BYTES_MAX = 1024 * 1024;
const PARTS_MAX = 100_000;
/** Limit of distinct property names: the parser takes a microsecond for each. */
const NAMES_MAX = 20_000;
/** A larger body is measured before it is parsed, and yields to other requests between the steps. */
const LARGE_BYTES = 16 * 1024;
/** Keys that reach an object's prototype when a careless merge copies them (such as CVE-2026-44789). */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

export interface JsonRules {
  depthMax: number;
  refusedKeys: ReadonlySet<string>;
}

/** Rules for bodies whose properties the API defines. */
export const STRICT_JSON_RULES: JsonRules = { depthMax: 64, refusedKeys: FORBIDDEN_KEYS };
/**
 * Rules for bodies with arbitrary properties, which are never merged into other objects. The depth is
 * what a run supports: Python's parser fails at a thousand levels, some of which the call of `run` needs.
 */
export const ANY_JSON_RULES: JsonRules = { depthMax: 500, refusedKeys: new Set() };

/** Bound once, as in json-size.ts: each is called for every value of a body. */
const { isArray } = Array;
const { keys } = Object;
const { isFinite: isFiniteNumber } = Number;

const DECOMPRESSORS: Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * Reads a JSON body of up to 1 MB that satisfies the rules and contains only values that can be stored unchanged.
 * @returns undefined without a body; an empty object for an empty one that is not required
 * @param beforeParsing is called with the size of the body, and awaited
 * @throws AppError 400, 408, 413, 415
 */
export async function readJsonBody(
  req: Request,
  rules: JsonRules,
  { required, nulPlaces }: Pick<OperationBody, 'required' | 'nulPlaces'>,
  beforeParsing: (bytes: number) => Promise<void> | undefined = () => undefined,
): Promise<unknown> {
  const { headers } = req;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return undefined;
  assertUtf8(headers['content-type']);
  const encodedBytes = await readBodyBytes(req, JSON_BYTES_MAX);
  const bytes = await decompress(encodedBytes, headers['content-encoding']);
  req.rawBody = bytes;
  if (!bytes.length) return required ? undefined : {};
  await beforeParsing(bytes.length);
  const isLarge = bytes.length > LARGE_BYTES;
  if (isLarge) assertSizeLimits(bytes, rules);
  const body = parseJsonText(bytes.toString('utf8'));
  if (isLarge) await othersTurn();
  if (!isStorable(body)) assertStorable(body, [], nulPlaces);
  assertSafeJson(body, rules, nulPlaces);
  if (isLarge) await othersTurn();
  return body;
}

function assertSizeLimits(bytes: Buffer, { depthMax }: JsonRules): void {
  const { depth, parts, names } = measureJsonSize(bytes, { depth: depthMax, parts: PARTS_MAX, names: NAMES_MAX });
  if (depth > depthMax) throw tooDeepError(depthMax);
  if (names > NAMES_MAX) throw tooManyPartsError(`${NAMES_MAX} different property names`);
  if (parts > PARTS_MAX) throw tooManyPartsError(`${PARTS_MAX} objects, lists and property names`);
}

const tooManyPartsError = (what: string) =>
  new AppError('invalid', 'too_many_parts', `the JSON body has more than ${what}`);

const tooDeepError = (depthMax: number) =>
  new AppError('invalid', 'too_deep', `the JSON body is nested deeper than ${depthMax} levels`);

function assertUtf8(contentType = ''): void {
  const [, charset] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return;
  throw new AppError('unsupported_type', 'unsupported_charset', 'send JSON as UTF-8');
}

async function decompress(bytes: Buffer, encoding = 'identity'): Promise<Buffer> {
  if (encoding === 'identity') return bytes;
  const decompressor = Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding] : undefined;
  if (!decompressor) {
    throw new AppError('unsupported_type', 'unsupported_encoding', 'Content-Encoding: expected gzip, deflate or br');
  }
  try {
    return await decompressor(bytes, { maxOutputLength: JSON_BYTES_MAX });
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new AppError('too_large', 'too_large', 'the body is larger than 1 MB');
    }
    throw new AppError('invalid', 'malformed_body', 'the body does not match its Content-Encoding');
  }
}

const BYTE_ORDER_MARK = 0xfeff;

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (err) {
    throw new AppError('invalid', 'malformed_json', `the body is not valid JSON: ${(err as Error).message}`);
  }
}

/** An object or list of the body; its path is built only for an error. */
interface JsonNode {
  value: object;
  key: string;
  depth: number;
  parent: JsonNode | null;
}

function assertSafeJson(body: unknown, { depthMax, refusedKeys }: JsonRules, nulPlaces: NulPaths): void {
  if (body === null || typeof body !== 'object') return;
  const pendingNodes: JsonNode[] = [{ value: body, key: '', depth: 0, parent: null }];
  for (let place = pendingNodes.pop(); place; place = pendingNodes.pop()) {
    const { value, depth } = place;
    if (depth >= depthMax) throw tooDeepError(depthMax);
    if (isArray(value)) {
      for (let index = 0; index < value.length; index++) pushChild(pendingNodes, value[index], index, place, nulPlaces);
      continue;
    }
    for (const key of keys(value)) {
      if (refusedKeys.has(key)) {
        throw new AppError(
          'invalid',
          'refused_key',
          `/${buildKeyPath(place, key).join('/')}: this property name is not allowed`,
        );
      }
      if (!isStorableText(key)) assertStorableText(key, buildKeyPath(place, key), nulPlaces);
      pushChild(pendingNodes, (value as Record<string, unknown>)[key], key, place, nulPlaces);
    }
  }
}

function pushChild(
  pendingNodes: JsonNode[],
  child: unknown,
  key: string | number,
  parent: JsonNode,
  nulPlaces: NulPaths,
): void {
  if (typeof child === 'object') {
    if (child !== null) pendingNodes.push({ value: child, key: String(key), depth: parent.depth + 1, parent });
  } else if (!isStorable(child)) assertStorable(child, buildKeyPath(parent, key), nulPlaces);
}

function buildKeyPath(place: JsonNode, key: string | number): string[] {
  const keys = [String(key)];
  // Bounded: 64 levels, which are counted before.
  for (let one: JsonNode | null = place; one?.parent; one = one.parent) keys.unshift(one.key);
  return keys;
}

const isStorable = (value: unknown): boolean =>
  typeof value === 'string' ? isStorableText(value) : typeof value !== 'number' || isFiniteNumber(value);

/** A number that is too large would be stored as null. */
function assertStorable(value: unknown, keys: string[], nulPlaces: NulPaths): void {
  if (typeof value === 'string') assertStorableText(value, keys, nulPlaces);
  if (typeof value !== 'number' || Number.isFinite(value)) return;
  throw invalid([{ path: keys.join('.') || 'body', message: 'the number is too large' }]);
}

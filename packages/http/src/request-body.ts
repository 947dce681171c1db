/** Reads the body of a request by its operation and media type. */

import { AppError, invalid } from '@gantry/errors';
import { createSlots } from '@gantry/limits';
import type { Request, Response } from 'express';
import type multer from 'multer';
import { ANY_JSON_RULES, readJsonBody, STRICT_JSON_RULES } from './json-body';
import { createLargeBodyQueue, HEAVY_BYTES } from './large-bodies';
import type { Operation } from './openapi-document';
import { assertStorableFields } from './request-text';
import { discardBody } from './unread-body';
import { createFormReader } from './upload';
import { readUrlEncodedBody } from './url-encoded';

const FORM = 'multipart/form-data';
const URL_ENCODED = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
/** A media type range of OpenAPI. */
const JSON_DIALECTS = 'application/*+json';
const JSON_DIALECT = /^application\/[\w.-]+\+json$/;
const ANY = '*/*';
/** A smaller body that never ends costs little more than its connection. */
const SMALL_BYTES_MAX = 16 * 1024;

/**
 * @returns the request's media type among the operation's; undefined if the operation accepts no body
 * @throws AppError 400, 408, 413, 415, 429, 503
 */
export type ReadBody = (operation: Operation, req: Request, res: Response) => Promise<string | undefined>;

export function createBodyReader(uploads: multer.Options = {}): ReadBody {
  const readForm = createFormReader(uploads);
  // Held in memory until the response, up to 16 MB each.
  const uploadSlots = createSlots('uploads', { perCredential: 8, perAddress: 16, total: 32 });
  const jsonSlots = createSlots('request bodies in progress', { perCredential: 64, perAddress: 128, total: 512 });
  const awaitTurn = createLargeBodyQueue();
  return async (operation, req, res) => {
    const { body } = operation;
    if (!body) {
      if (hasBody(req)) discardBody(req, res);
      return undefined;
    }
    const type = resolveMediaType(req, body.content);
    if ((type === JSON_TYPE || type === JSON_DIALECTS) && body.reading !== 'as-sent') {
      const release = isSmall(req) ? () => {} : jsonSlots.acquire(req);
      const rules = body.reading === 'any-json' ? ANY_JSON_RULES : STRICT_JSON_RULES;
      const beforeParsing = (bytes: number) => (bytes > HEAVY_BYTES ? awaitTurn(res) : undefined);
      req.body = await readJsonBody(req, rules, body, beforeParsing).finally(release);
      if (req.body === undefined && body.required) throw invalid([{ path: 'body', message: 'is required' }]);
      return type;
    }
    if (type === URL_ENCODED && body.reading !== 'as-sent') {
      const release = isSmall(req) ? () => {} : jsonSlots.acquire(req);
      req.body = await readUrlEncodedBody(req).finally(release);
      return type;
    }
    if (body.reading !== 'as-sent' || type === FORM || !isSmall(req)) res.once('close', uploadSlots.acquire(req));
    if (type === FORM) {
      await readForm(req);
      assertStorableFields(req.body);
    }
    return type;
  };
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;

const isSmall = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SMALL_BYTES_MAX;

/** @throws AppError 415 */
function resolveMediaType(req: Request, content: Record<string, unknown>): string {
  const { headers } = req;
  // `curl -X POST` sends neither a body nor its type. That is valid where a body is optional.
  if (headers['content-type'] === undefined && !hasBody(req)) headers['content-type'] = JSON_TYPE;
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const jsonDialect = mediaType !== undefined && JSON_DIALECT.test(mediaType) ? JSON_DIALECTS : undefined;
  for (const type of [mediaType, jsonDialect, ANY]) if (type !== undefined && Object.hasOwn(content, type)) return type;
  const expected = Object.keys(content).join(' or ');
  throw new AppError(
    'unsupported_type',
    'unsupported_type',
    `send Content-Type: ${expected}${mediaType ? `, not ${mediaType.slice(0, 100)}` : ''}`,
  );
}

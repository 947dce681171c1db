/**
 * Rejects texts with U+0000, which PostgreSQL's text and jsonb refuse, or an unpaired surrogate, which UTF-8 cannot
 * encode. A schema with `x-nul: allowed` accepts U+0000 in all texts below it, which are stored as JSON or as bytes.
 */

import { invalid } from '@gantry/errors';
import type { Request } from 'express';

/** Keys from the root of a body to a part of it that may hold U+0000; `*` is any key. */
export type NulPaths = readonly (readonly string[])[];

type Schema = Record<string, unknown>;

const UNSTORABLE_CHARACTERS = /[\0\p{Surrogate}]/u;
const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

export const isStorableText = (text: string): boolean => !UNSTORABLE_CHARACTERS.test(text);

/** @param keys path in the body of the text, or of the object with this key. @throws AppError 400 */
export function assertStorableText(text: string, keys: readonly string[], nulPaths: NulPaths = []): void {
  const path = keys.join('.') || 'body';
  if (UNPAIRED_SURROGATE.test(text)) {
    throw invalid([{ path, message: 'contains an unpaired surrogate (half of a character)' }]);
  }
  if (text.includes('\0') && !nulPaths.some((place) => isPathPrefix(place, keys))) {
    throw invalid([{ path, message: 'must not contain NUL (U+0000)' }]);
  }
}

const isPathPrefix = (place: readonly string[], keys: readonly string[]): boolean =>
  place.length <= keys.length && place.every((key, index) => key === '*' || key === keys[index]);

/** Checks path, query or form fields. @throws AppError 400 */
export function assertStorableFields(fields: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(fields)) {
    for (const text of [name, value].flat()) if (typeof text === 'string') assertStorableText(text, [name]);
  }
}

/** @throws AppError 400 */
export function assertStorableParameters({ params, query }: Request): void {
  assertStorableFields(params);
  assertStorableFields(query);
}

/** @param schemas that the schema refers to, by URI */
export function findNulPaths(schema: Schema, schemas: Record<string, Schema>): NulPaths {
  const nulPaths: string[][] = [];
  const visitedRefs: unknown[] = [];

  function visitSchema(part: unknown, keys: string[]): void {
    if (part === null || typeof part !== 'object') return;
    const { $ref, properties, items, additionalProperties, ...rest } = part as Schema;
    if (rest['x-nul'] === 'allowed') return void nulPaths.push(keys);
    for (const [key, one] of Object.entries(properties ?? {})) visitSchema(one, [...keys, key]);
    for (const one of [items, additionalProperties]) visitSchema(one, [...keys, '*']);
    for (const one of [rest.allOf, rest.anyOf, rest.oneOf].flat()) visitSchema(one, keys);
    // Recursive references are visited once.
    if (typeof $ref !== 'string' || visitedRefs.includes($ref)) return;
    visitedRefs.push($ref);
    visitSchema(schemas[$ref], keys);
    visitedRefs.pop();
  }

  visitSchema(schema, []);
  return nulPaths;
}

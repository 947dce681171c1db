/**
 * The text of a worker.yaml or worker.json. Reading and writing one takes as long as its author decides: see
 * manifests.ts.
 */
import { parseBoundedYaml } from '@gantry/http';
import { stringify } from 'yaml';

export const MANIFEST_BYTES_MAX = 512 * 1024;
const YAML_LIMITS = { charsMax: MANIFEST_BYTES_MAX, tokensMax: 60_000, aliasesMax: 20 };

/** @throws Error whose first line says what is wrong */
export function parseManifest(path: string, content: Uint8Array): unknown {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  const value = path.endsWith('.json') ? JSON.parse(text) : parseBoundedYaml(text, YAML_LIMITS);
  // What JSON can't hold (a map with keys that are no texts, a value without end) is made plain or found here.
  return JSON.parse(JSON.stringify(value ?? null, rejectUnsupportedValue));
}

/** As of JSON bodies: a limit of NaN would be no limit, and half of a UTF-16 pair is no text. */
function rejectUnsupportedValue(key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`"${key}" is ${value}`);
  if (/\p{Surrogate}/u.test(typeof value === 'string' ? key + value : key)) {
    throw new Error(`"${key}" contains an unpaired surrogate (half of a character)`);
  }
  return value;
}

export const formatManifest = (fields: Record<string, unknown>): string => stringify(fields);

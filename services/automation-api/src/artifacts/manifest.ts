/**
 * Parses manifests, which declare the inputs, outputs and requirements of an automation. Unknown keys are kept and not
 * read, since manifests carry `version`, `author`, `icon` and the like for other programs; known keys must be valid.
 */
import { formatIssues, invalid } from '@gantry/errors';
import {
  checkDefaults,
  dependencyNames,
  inputItems,
  isolation,
  outputItems,
  secretNames,
  storedInputItems,
} from '@gantry/program';
import { z } from 'zod';

const MANIFEST_CHARS_MAX = 256 * 1024;

const manifest = z.looseObject({
  name: z.string().min(1).max(120),
  description: z.string().max(2_000).default(''),
  inputs: inputItems.default([]),
  outputs: outputItems.default([]),
  secrets_needed: secretNames.default([]),
  python_dependencies: dependencyNames.default([]),
  timeout_seconds: z.int().min(1).max(3_600).default(300),
  isolation,
});

const storedManifest = manifest.extend({ inputs: storedInputItems.default([]) });

/** A manifest with every shorthand expanded and every default filled in. */
export type Manifest = z.infer<typeof manifest>;

/** @throws AppError 400 `bad_manifest` naming each path that is wrong */
export function parseManifest(value: unknown): Manifest {
  let hasNul = false;
  const json = JSON.stringify(value, (key, inner) => {
    hasNul ||= key.includes('\0') || (typeof inner === 'string' && inner.includes('\0'));
    return inner;
  });
  const manifestError = (message: string) => invalid([{ path: 'manifest', message }], 'bad_manifest');
  if (json.length > MANIFEST_CHARS_MAX) throw manifestError(`is larger than ${MANIFEST_CHARS_MAX / 1024} KB`);
  // PostgreSQL's jsonb cannot hold it, not even in keys that are never read.
  if (hasNul) throw manifestError('contains a NUL character');
  const parsed = parse(manifest, value);
  const problems = checkDefaults(parsed.inputs, 'manifest.inputs');
  if (problems.length) throw invalid(problems, 'bad_manifest');
  return parsed;
}

/**
 * Parses the manifest of a stored artifact. A pattern that would be refused today is reported only when a value is
 * checked against it.
 */
export const parseStoredManifest = (value: unknown): Manifest => parse(storedManifest, value);

function parse(schema: typeof manifest, value: unknown): Manifest {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(formatIssues(parsed.error, ['manifest']), 'bad_manifest');
}

/**
 * The manifest: what an automation needs and gives. Keys that we don't know are kept and not read, since manifests carry
 * `version`, `author`, `icon` and the like for other programs; what we do read must have the right shape.
 */
import { invalid } from '@gantry/http';
import { z } from 'zod';
import { normalizeInput, normalizeOutput } from './manifest-items';

export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;
/** PEP 508 without URLs, markers and options: a name, extras, versions. */
const DEPENDENCY =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9._,\s-]+\])?\s*(?:(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+(?:\s*,\s*(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+)*)?$/;
const DEPENDENCY_CHARS_MAX = 200;
const MANIFEST_CHARS_MAX = 256 * 1024;

const uniqueNames = (items: { name: string }[], context: z.core.$RefinementCtx) => {
  const seen = new Set<string>();
  for (const [index, { name }] of items.entries()) {
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [index], message: `the name "${name}" is taken` });
    seen.add(name);
  }
};

const manifest = z.looseObject({
  name: z.string().min(1).max(120),
  description: z.string().max(2_000).default(''),
  inputs: z.array(normalizeInput).max(100).default([]).superRefine(uniqueNames),
  outputs: z.array(normalizeOutput).max(100).default([]).superRefine(uniqueNames),
  secrets_needed: z
    .array(z.string().regex(SECRET_NAME, 'must be an environment variable name like API_KEY'))
    .max(50)
    .default([])
    .transform((names) => [...new Set(names)]),
  python_dependencies: z
    .array(
      z
        .string()
        .trim()
        .max(DEPENDENCY_CHARS_MAX)
        .regex(DEPENDENCY, 'must be a package with versions, like "requests>=2.31,<3"; no URLs, paths or options'),
    )
    .max(50)
    .default([])
    .transform((names) => [...new Set(names)]),
  timeout_seconds: z.int().min(1).max(3_600).default(300),
  isolation: z.enum(['zygote', 'process']).default('zygote'),
});

/** With every shorthand spelt out and every default filled in. */
export type Manifest = z.infer<typeof manifest>;

/** @throws AppError 400 `bad_manifest` naming each path that is wrong */
export function parseManifest(value: unknown): Manifest {
  let hasNul = false;
  const json = JSON.stringify(value, (key, inner) => {
    hasNul ||= key.includes('\0') || (typeof inner === 'string' && inner.includes('\0'));
    return inner;
  });
  const refused = (message: string) => invalid([{ path: 'manifest', message }], 'bad_manifest');
  if (json.length > MANIFEST_CHARS_MAX) throw refused(`is larger than ${MANIFEST_CHARS_MAX / 1024} KB`);
  // PostgreSQL's jsonb can't hold it, also where nobody reads.
  if (hasNul) throw refused('contains a NUL character');
  const parsed = manifest.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(
    parsed.error.issues.map(({ path, message }) => ({ path: ['manifest', ...path].join('.'), message })),
    'bad_manifest',
  );
}

/** The OpenAPI file as the table of routes and of who may use them. */
import { readFileSync } from 'node:fs';
import { roles } from '@gantry/events';
import { load } from 'js-yaml';
import { z } from 'zod';

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head'] as const;

const operation = z.object({
  operationId: z.string(),
  /**
   * Who may call it. `public`: anybody, credentials are ignored. `optional`: anybody, who signed in may get more.
   * `account`: any good credential, also of somebody who is no member of any workspace. `user`: any good credential,
   * whatever the workspace. A role: that role or a higher one in the request's workspace.
   */
  'x-access': z.enum(['public', 'optional', 'account', 'user', ...roles]),
  /** `rest`: the last path parameter is all that follows, slashes too. */
  'x-path': z.enum(['rest']).optional(),
  /** `path`: the request acts in the workspace that `{workspace_id}` names; 404 for whoever is no member there. */
  'x-workspace': z.enum(['path']).optional(),
  /** Which budget it takes from; `none` is for probes and streams' reconnects. */
  'x-limit': z.enum(['requests', 'runs', 'sign-in', 'none']).default('requests'),
  /** Honours Idempotency-Key; `once`: does it once, but its answer holds a secret and is not kept. */
  'x-idempotent': z.union([z.boolean(), z.literal('once')]).default(false),
});

export interface Operation {
  id: string;
  method: (typeof methods)[number];
  /** As Express writes it: `/api/runs/:runId`. */
  path: string;
  access: z.infer<typeof operation>['x-access'];
  takesRestOfPath: boolean;
  workspaceFromPath: boolean;
  limit: z.infer<typeof operation>['x-limit'];
  idempotent: z.infer<typeof operation>['x-idempotent'];
}

/** @throws Error naming every operation that lacks an operationId or x-access: nothing is open by default. */
export function readOperations(openapiFile: string): Operation[] {
  const document = load(readFileSync(openapiFile, 'utf8')) as { paths?: Record<string, Record<string, unknown>> };
  const problems: string[] = [];
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of methods) {
      if (!(method in item)) continue;
      const parsed = operation.safeParse(item[method]);
      if (!parsed.success) {
        problems.push(`${method.toUpperCase()} ${path}: ${z.prettifyError(parsed.error)}`);
        continue;
      }
      operations.push({
        id: parsed.data.operationId,
        method,
        path: path.replace(/\{(\w+)\}/g, ':$1'),
        access: parsed.data['x-access'],
        takesRestOfPath: parsed.data['x-path'] === 'rest',
        workspaceFromPath: parsed.data['x-workspace'] === 'path',
        limit: parsed.data['x-limit'],
        idempotent: parsed.data['x-idempotent'],
      });
    }
  }
  if (problems.length) throw new Error(`${openapiFile}:\n${problems.join('\n')}`);
  return operations;
}

/**
 * For operations with `x-path: rest`. Writes the slashes of the last parameter as `%2F`, so that OpenAPI validation and
 * Express see one segment, which both decode once: `/files/a/b.txt` and `/files/a%2Fb.txt` name the same file.
 */
export function restOfPathAsOneSegment(operations: Operation[]): (path: string) => string {
  const patterns = operations
    .filter(({ takesRestOfPath }) => takesRestOfPath)
    .map(({ path }) => {
      const before = path
        .slice(0, path.lastIndexOf(':'))
        .split(/:\w+/)
        .map((fixed) => fixed.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        .join('[^/]+');
      return new RegExp(`^(${before})(.+)$`, 'i');
    });
  return (path) => {
    for (const pattern of patterns) {
      const [, before, rest] = pattern.exec(path) ?? [];
      if (before !== undefined && rest !== undefined) return before + rest.replaceAll('/', '%2F');
    }
    return path;
  };
}

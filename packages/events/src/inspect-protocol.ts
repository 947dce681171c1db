/** Requests of a service to an executor to inspect code before it runs. */
import { z } from 'zod';
import { job } from './run-protocol';

export const inspectRequest = z.object({
  entrypoint: z.string(),
  code: job.shape.code.optional(),
  /** Instead of `code`: files that are not stored yet, inside the message. */
  draft: z
    .object({
      sources: z.array(z.object({ path: z.string(), text: z.string() })),
      /** Names of modules that the files define. */
      modules: z.array(z.string()),
    })
    .optional(),
  /** Instead of `code`: a TOML document, of a `# /// script` block (PEP 723) or a pyproject.toml. */
  toml: z.object({ kind: z.enum(['script', 'project']), text: z.string() }).optional(),
});
export type InspectRequest = z.infer<typeof inspectRequest>;

/** Lines and columns count from 1. */
const place = { line: z.int().nullable(), column: z.int().nullable() };
const inspectProblemCode = z.enum(['syntax_error', 'no_run', 'unreadable', 'unavailable']);

/** Result of `ast.parse` on the entrypoint; no user code is executed. */
export const inspectReply = z.object({
  ok: z.boolean(),
  /** Reason for a failure: a syntax error with its line, no run(), or code that could not be fetched or unpacked. */
  problem: z.object({ code: inspectProblemCode, message: z.string() }).optional(),
  /** Parameter names of run(), in order. */
  parameters: z.array(z.string()).optional(),
  /** Top-level packages that it imports, other than the standard library and the code itself. */
  imports: z.array(z.string()).optional(),
  /** Environment variables and secrets that it requires. */
  secrets: z.array(z.string()).optional(),
  /** For a TOML document: the packages that it lists, null if it has no such list, or the reason for refusing it. */
  toml: z
    .union([
      z.object({ dependencies: z.array(z.string()).nullable() }),
      z.object({ problem: z.string(), line: z.int().nullable() }),
    ])
    .optional(),
  /** For a draft: every problem of its sources, with its place. */
  problems: z.array(z.object({ code: inspectProblemCode, path: z.string(), ...place, message: z.string() })).optional(),
  /** For a draft: the first place where the entrypoint names each of the above. */
  places: z.array(z.object({ kind: z.enum(['parameter', 'import', 'secret']), name: z.string(), ...place })).optional(),
});
export type InspectReply = z.infer<typeof inspectReply>;

import fs from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import type { ToolRequest, ToolRunner } from '../sandbox/tool-run';

const PREPARE_TIMEOUT_MS = 30_000;

/** uv, where every sandbox can read it. */
export interface Uv {
  path: string;
  /** What it knows of the interpreter: in sandboxes with anything of others in them it cannot start Python to ask. */
  interpreters: string;
}

/** Takes uv to a place of the executor's own when it is first needed; null where there is none, or it does not work. */
export function createUv({
  executable,
  directory,
  runTool,
  log,
}: {
  /** null: there is none. */
  executable: string | null;
  directory: string;
  runTool: ToolRunner;
  log: Logger;
}): () => Promise<Uv | null> {
  let prepared: Promise<Uv | null> | undefined;

  async function prepare(source: string): Promise<Uv | null> {
    const uv = { path: path.join(directory, 'uv'), interpreters: path.join(directory, 'interpreters') };
    try {
      for (const each of [directory, uv.interpreters]) fs.mkdirSync(each, { mode: 0o755 });
      await fs.promises.copyFile(source, uv.path);
      fs.chmodSync(uv.path, 0o755);
      await runTool({
        config: { tool: 'interpreter' },
        workDir: uv.interpreters,
        readOnly: [directory],
        timeoutMs: PREPARE_TIMEOUT_MS,
        uv: { path: uv.path },
        isTrusted: true,
      });
      return uv;
    } catch (err) {
      log.warn({ err }, 'uv does not work here: pip installs dependencies');
      return null;
    }
  }

  return () => {
    prepared ??= executable ? prepare(executable) : Promise.resolve(null);
    return prepared;
  };
}

/** What a tool needs of uv. */
export const withUv = (uv: Uv, request: ToolRequest): ToolRequest => ({
  ...request,
  readOnly: [...request.readOnly, path.dirname(uv.path)],
  uv,
});

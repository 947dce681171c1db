import fs from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import type { ToolRequest, ToolRunner } from '../sandbox/tool-run';

const PREPARE_TIMEOUT_MS = 30_000;

/** uv, where every sandbox can read it. */
export interface Uv {
  path: string;
  /** Its cached facts about the interpreter, since it cannot start Python in sandboxes that contain untrusted files. */
  interpreters: string;
}

/** Copies uv to a directory of the executor's own on first use; null where there is none, or it does not work. */
export function createUvLoader({
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
      log.warn({ err }, 'uv does not work on this machine: installing dependencies with pip instead');
      return null;
    }
  }

  return () => {
    prepared ??= executable ? prepare(executable) : Promise.resolve(null);
    return prepared;
  };
}

/** Adds the files of uv that a tool needs. */
export const withUv = (uv: Uv, request: ToolRequest): ToolRequest => ({
  ...request,
  readOnly: [...request.readOnly, path.dirname(uv.path)],
  uv,
});

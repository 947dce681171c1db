import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import { buildToolArgs } from './bwrap-args';
import { startBwrap } from './bwrap-process';
import { chownToExecutor, chownToSandbox } from './change-owner';
import { encodeFrame } from './frames';
import { buildNoExecFilter } from './seccomp';
import type { SandboxSettings } from './settings';

export interface ToolRequest {
  /** The name of a tool in tool.py, and its parameters. */
  config: { tool: string } & Record<string, unknown>;
  /** The only directory that it may write to: /work inside. */
  workDir: string;
  /** Directories that it may read, mounted under their own names. */
  readOnly: string[];
  timeoutMs: number;
  /** The only program that the tool may start. `interpreters`: directory of its cached facts about the interpreter. */
  uv?: { path: string; interpreters?: string };
  /** It handles no untrusted files, and may start any program. */
  isTrusted?: boolean;
  /** The nonce that identifies this tool to the egress proxy; without one there is no network. */
  egressNonce?: string;
}

/** @returns the tool's output. @throws ToolError. */
export type ToolRunner = (request: ToolRequest) => Promise<string>;

export class ToolError extends Error {
  constructor(
    readonly reason: 'failed' | 'timeout',
    readonly output: string,
  ) {
    super(reason === 'timeout' ? 'took too long' : output.trim().slice(-2_000) || 'failed');
  }
}

const OUTPUT_BYTES_MAX = 256 * 1024;
const TOOL_TMP_BYTES = 512 << 20;
const PAGE_BYTES = 4_096;
/** Page numbers that no interpreter uses, in address spaces of 39 bits and more. */
const NAME_PAGE = { least: 2 ** 24, most: 2 ** 26 };

/**
 * Runs the platform's own tools on untrusted files: in a sandbox, because a compiler and pip are attack surface too.
 */
export function createToolRunner(settings: SandboxSettings): ToolRunner {
  return ({ config, workDir, readOnly, timeoutMs, egressNonce, uv, isTrusted }) =>
    new Promise((resolve, reject) => {
      const existing = readOnly.filter((directory) => fs.existsSync(directory));
      const nameAddress = uv && PAGE_BYTES * randomInt(NAME_PAGE.least, NAME_PAGE.most);
      const filter = isTrusted ? null : buildNoExecFilter(nameAddress).toString('base64');
      chownToSandbox(workDir, settings);
      const egress = egressNonce !== undefined;
      const args = buildToolArgs(settings, {
        workDir,
        readOnly: existing,
        egress,
        tmpBytes: TOOL_TMP_BYTES,
        config: { ...config, filter, uv: uv ? { ...uv, nameAt: nameAddress } : null },
      });
      const bwrap = startBwrap(settings, args, settings.filterFile);
      bwrap.control.end(encodeFrame({ egressNonce: egressNonce ?? null }));
      let output = '';
      let timedOut = false;
      const collectOutput = (text: Buffer) => {
        if (output.length < OUTPUT_BYTES_MAX) output += text;
      };
      bwrap.stdout.on('data', collectOutput);
      bwrap.stderr.on('data', collectOutput);
      const timer = setTimeout(() => {
        timedOut = true;
        bwrap.kill();
      }, timeoutMs);
      bwrap.process.once('error', reject);
      bwrap.process.once('close', (code) => {
        clearTimeout(timer);
        try {
          chownToExecutor(workDir, settings);
        } catch (err) {
          return reject(err);
        }
        if (code === 0) resolve(output);
        else reject(new ToolError(timedOut ? 'timeout' : 'failed', output));
      });
    });
}

/**
 * Stores reports that JetStream does not accept on disk: a file per attempt, a line per batch. They survive a killed
 * process; a machine failure may lose them, and those runs then end as lost.
 */
import fs from 'node:fs';
import path from 'node:path';
import { runSources } from '@gantry/events';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Attempt } from './attempt';

export interface SpooledBatch {
  id: string;
  payload: Buffer;
}

export interface SpooledReport {
  attempt: Attempt;
  subject: string;
  batches: SpooledBatch[];
}

export type Spool = ReturnType<typeof openSpool>;

/** Beyond this size batches stay in memory only. No run is claimed while batches wait, so this is rarely reached. */
const BYTES_MAX = 256 << 20;
const NAME = /^[\w-]{1,64}$/;

const headSchema = z.object({
  runId: z.string().regex(NAME),
  source: z.enum(runSources),
  attempt: z.int().min(1),
  token: z.string(),
  subject: z.string(),
});
const lineSchema = z.object({ id: z.string(), payload: z.string() });

export function openSpool({ directory, log }: { directory: string; log: Logger }) {
  const sizes = new Map<string, number>();
  let total = 0;
  let full = false;

  const toPath = ({ runId, attempt }: Pick<Attempt, 'runId' | 'attempt'>) =>
    path.join(directory, `${runId}.${attempt}.jsonl`);

  function addSize(file: string, bytes: number) {
    sizes.set(file, (sizes.get(file) ?? 0) + bytes);
    total += bytes;
  }

  /** Reads a report; the last line is truncated if the process died while writing it. */
  function readReport(file: string): SpooledReport | null {
    const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
    try {
      const { subject, ...attempt } = headSchema.parse(JSON.parse(lines.shift() ?? ''));
      const batches = lines.map((text) => lineSchema.parse(JSON.parse(text)));
      return { attempt, subject, batches: batches.map(({ id, payload }) => ({ id, payload: Buffer.from(payload) })) };
    } catch (err) {
      log.error({ err, file: path.basename(file) }, 'dropped an unreadable spooled report');
      return null;
    }
  }

  return {
    append({ runId, source, attempt, token, subject }: Attempt & { subject: string }, { id, payload }: SpooledBatch) {
      if (!NAME.test(runId)) throw new Error(`${runId} is not a valid file name`);
      const file = toPath({ runId, attempt });
      const exists = sizes.has(file);
      const text = `${exists ? '' : `${JSON.stringify({ runId, source, attempt, token, subject })}\n`}${JSON.stringify({ id, payload: payload.toString() })}\n`;
      if (total + text.length > BYTES_MAX) {
        if (!full) log.error({ bytes: total }, 'the run event spool is full: new events are kept in memory only');
        full = true;
        return;
      }
      full = false;
      // Synchronous: JetStream is down, so there is nothing else to do, and the order must be that of the calls.
      fs.appendFileSync(file, text, { mode: 0o600 });
      addSize(file, Buffer.byteLength(text));
    },
    remove(attempt: Attempt) {
      const file = toPath(attempt);
      fs.rmSync(file, { force: true });
      total -= sizes.get(file) ?? 0;
      sizes.delete(file);
    },
    /** Reads the reports left by an earlier process. */
    recover(): SpooledReport[] {
      return fs.readdirSync(directory).flatMap((name) => {
        const file = path.join(directory, name);
        const report = readReport(file);
        if (report?.batches.length) {
          addSize(file, fs.statSync(file).size);
          return [report];
        }
        fs.rmSync(file, { force: true });
        return [];
      });
    },
    bytes: (): number => total,
  };
}

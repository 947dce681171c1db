/** A run's files, one by one and as a zip of all that it left behind. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { notFound, type Operations } from '@gantry/http';
import { attachment, ObjectMissing } from '@gantry/object-store';
import type { Sql } from '@gantry/postgres';
import { type Run, type RunArtifact, readLines } from '@gantry/run-engine';
import { ZipFile } from 'yazl';
import type { Deps } from '../deps';
import { lineToText } from './log-line';
import { runOf } from './run-of-request';

export function downloadOperations(deps: Deps): Operations {
  const { engine, objects, pool, log } = deps;
  return {
    downloadRunArtifact: async (req, res) => {
      const run = await runOf(deps, req);
      const id = String(req.params.artifact_id);
      const artifact = (await engine.artifacts(run)).find((one) => one.id === id);
      if (!artifact) throw notFound('artifact', id);
      const content = await objects.get(artifact.key).catch((err) => {
        throw err instanceof ObjectMissing ? notFound('artifact', id) : err;
      });
      res.setHeader('Content-Type', safeType(artifact.contentType));
      res.set({
        'Content-Length': String(artifact.size),
        'Content-Disposition': attachment(artifact.name),
        // Made by user code: whatever it is, it runs nothing in this origin.
        'Content-Security-Policy': "sandbox; default-src 'none'",
        'X-Content-Type-Options': 'nosniff',
      });
      await sent(pipeline(content, res));
    },

    downloadRun: async (req, res) => {
      const run = await runOf(deps, req);
      const zip = await zipOf(run);
      res.set({
        'Content-Type': 'application/zip',
        'Content-Disposition': attachment(`${run.id}.zip`),
        'X-Content-Type-Options': 'nosniff',
      });
      zip.on('error', (err: Error) => {
        log.warn({ err, runId: run.id }, 'download of a run broken off');
        res.destroy();
      });
      await sent(pipeline(zip.outputStream, res));
    },
  };

  async function zipOf(run: Run): Promise<ZipFile> {
    const zip = new ZipFile();
    const mtime = run.createdAt;
    zip.addBuffer(Buffer.from(`${JSON.stringify(await engine.output(run), null, 2)}\n`), 'output.json', { mtime });
    lazily(zip, 'logs.txt', { mtime }, async () => Readable.from(logText(pool, run.id)));
    for (const [name, { key }] of namesOf(await engine.artifacts(run))) {
      // Images and archives are compressed already, and a zip is read once.
      lazily(zip, `artifacts/${name}`, { mtime, compress: false }, () => objects.get(key));
    }
    zip.end();
    return zip;
  }
}

/** Opens the file only when its turn comes. */
function lazily(zip: ZipFile, name: string, options: object, open: () => Promise<Readable>): void {
  zip.addReadStreamLazy(name, options, (done) => {
    open().then(
      (stream) => done(null, stream),
      (err) => zip.emit('error', err),
    );
  });
}

async function* logText(sql: Sql, runId: string): AsyncGenerator<string> {
  for await (const line of readLines(sql, runId)) yield lineToText(line);
}

/** What a file in a zip may be called everywhere; two of one name are told apart. */
function namesOf(artifacts: RunArtifact[]): Map<string, RunArtifact> {
  const named = new Map<string, RunArtifact>();
  for (const artifact of artifacts) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must go
    const plain = artifact.name.replace(/[\\/:*?"<>|\u0000-\u001f\u007f]/g, '_').replace(/^\.+/, '_') || 'file';
    const [, stem = plain, extension = ''] = /^(.+?)(\.[^.]*)?$/.exec(plain) ?? [];
    let name = plain;
    for (let n = 2; named.has(name); n++) name = `${stem} (${n})${extension}`;
    named.set(name, artifact);
  }
  return named;
}

const TYPE = /^[\w.+-]+\/[\w.+-]+(;\s*[\w-]+=[\w.-]+)*$/;

/** It came from user code, and a header refuses many things. */
const safeType = (type: string): string => (TYPE.test(type) ? type : 'application/octet-stream');

/** A client that leaves is no failure. */
async function sent(sending: Promise<void>): Promise<void> {
  await sending.catch((err: NodeJS.ErrnoException) => {
    if (err.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw err;
  });
}

/** A run's files, one by one and as a zip of all that it left behind. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type NewFile, type NewStream, streamZip } from '@gantry/archive';
import { notFound } from '@gantry/errors';
import { encodeJson, type Operations } from '@gantry/http';
import { buildContentDisposition } from '@gantry/object-store';
import type { Sql } from '@gantry/postgres';
import { hasRequests, type Run, type RunArtifact, streamLogLines, streamRequests } from '@gantry/run-engine';
import { formatLogLine } from './log-line';
import { getRequestedRun } from './requested-run';
import type { RunDeps } from './run-deps';
import { loadRunOutput } from './run-output';
import { requestToApi } from './run-request';

export function createDownloadOperations(deps: RunDeps): Operations<'worker'> {
  const { engine, objects, pool, log } = deps;
  return {
    downloadRunArtifact: async (call) => {
      const { res } = call;
      const run = await getRequestedRun(deps, call);
      const id = call.path.artifact_id;
      const artifact = await engine.findArtifact(run, id);
      if (!artifact) throw notFound('artifact', id, 'in this run');
      const content = await objects.get(artifact.key);
      res.setHeader('Content-Type', sanitizeContentType(artifact.contentType));
      res.set({
        'Content-Length': String(artifact.size),
        'Content-Disposition': buildContentDisposition(artifact.name),
        // Made by user code: whatever it is, it runs nothing in this origin.
        'Content-Security-Policy': "sandbox; default-src 'none'",
        'X-Content-Type-Options': 'nosniff',
      });
      await waitUntilSent(pipeline(content, res));
    },

    downloadRun: async (call) => {
      const { res } = call;
      const run = await getRequestedRun(deps, call);
      const zip = await zipRun(run);
      res.set({
        'Content-Type': 'application/zip',
        'Content-Disposition': buildContentDisposition(`${run.id}.zip`),
        'X-Content-Type-Options': 'nosniff',
      });
      await waitUntilSent(pipeline(zip, res)).catch((err) => {
        log.warn({ err, runId: run.id }, 'run download interrupted');
      });
    },
  };

  async function zipRun(run: Run): Promise<Readable> {
    const { output, output_missing } = await loadRunOutput(engine, run);
    const result = output_missing ? MISSING_OUTPUT : toJsonFile('output.json', output);
    const artifacts = [...assignUniqueNames(await engine.artifacts(run))].map(
      // Images and archives are compressed already, and a zip is read once.
      ([name, { key }]): NewStream => ({ path: `artifacts/${name}`, open: () => objects.get(key), compress: false }),
    );
    const logs: NewStream = { path: 'logs.txt', open: async () => Readable.from(streamLogText(pool, run.id)) };
    const requests: NewStream = {
      path: 'requests.jsonl',
      open: async () => Readable.from(streamRequestLines(pool, run.id)),
    };
    const told = (await hasRequests(pool, run.id)) ? [logs, requests] : [logs];
    return streamZip([result, ...told, ...artifacts], run.createdAt);
  }
}

/** In place of `output.json`. */
const MISSING_OUTPUT: NewFile = {
  path: 'missing.txt',
  content: Buffer.from(
    'output.json is missing because the object store has lost the output; everything else from the run is included\n',
  ),
};

const toJsonFile = (path: string, value: unknown): NewFile => ({
  path,
  content: Buffer.concat([Buffer.from(encodeJson(value, 2)), Buffer.from('\n')]),
});

async function* streamLogText(sql: Sql, runId: string): AsyncGenerator<string> {
  for await (const line of streamLogLines(sql, runId)) yield formatLogLine(line);
}

async function* streamRequestLines(sql: Sql, runId: string): AsyncGenerator<string> {
  for await (const request of streamRequests(sql, runId)) yield `${JSON.stringify(requestToApi(request))}\n`;
}

/** Derives portable names for files in a zip; duplicates get a number. */
function assignUniqueNames(artifacts: RunArtifact[]): Map<string, RunArtifact> {
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

const MEDIA_TYPE_PATTERN = /^[\w.+-]+\/[\w.+-]+(;\s*[\w-]+=[\w.-]+)*$/;

/** It came from user code, and a header refuses many things. */
const sanitizeContentType = (type: string): string =>
  MEDIA_TYPE_PATTERN.test(type) ? type : 'application/octet-stream';

/** A client that leaves is no failure. */
async function waitUntilSent(sending: Promise<void>): Promise<void> {
  await sending.catch((err: NodeJS.ErrnoException) => {
    if (err.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw err;
  });
}

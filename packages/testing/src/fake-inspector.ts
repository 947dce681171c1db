/** Looks for run() as an executor would, but with a regular expression: enough for the code of these tests. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { readZip } from '@gantry/archive';
import {
  type Bus,
  encode,
  type InspectReply,
  type InspectRequest,
  inspectRequest,
  listen,
  runSubjects,
} from '@gantry/events';
import { pino } from 'pino';

const RUN = /^(?:async )?def run\(([^)]*)\)/m;

export function serveInspections(bus: Bus): void {
  listen(
    bus,
    runSubjects.inspect,
    inspectRequest,
    async ({ code, draft, toml, entrypoint }, message) => {
      if (toml) return void message.respond(encode(inspectToml(toml)));
      if (draft) return void message.respond(encode(inspectDraftSources(draft.sources, entrypoint)));
      if (!code) throw new Error('nothing to inspect');
      const zip = Buffer.from(await (await fetch(code.url)).arrayBuffer());
      const digest = createHash('sha256').update(zip).digest('hex');
      if (digest !== code.digest || zip.length !== code.size) throw new Error('the code is not what was announced');
      message.respond(encode(inspectSource(await readZipSource(zip, entrypoint))));
    },
    { queue: 'executors', log: pino({ level: 'silent' }) },
  );
}

/** By the executor's own function: there is no TOML parser on this side. */
function inspectToml(toml: NonNullable<InspectRequest['toml']>): InspectReply {
  const script =
    'import json, sys; from _gantry.inspection import inspect_toml; print(json.dumps(inspect_toml(**json.load(sys.stdin))))';
  const python = path.resolve(__dirname, '../../../services/executor/python');
  const env = { ...process.env, PYTHONPATH: python, PYTHONDONTWRITEBYTECODE: '1' };
  const answer = JSON.parse(execFileSync('python3', ['-c', script], { input: JSON.stringify(toml), env }).toString());
  return { ok: !answer.problem, toml: answer };
}

function inspectSource(source: string): InspectReply {
  if (source.includes('def run(:')) {
    return { ok: false, problem: { code: 'syntax_error', message: 'line 1: invalid syntax' } };
  }
  const [, parameters] = RUN.exec(source) ?? [];
  if (parameters === undefined) return { ok: false, problem: { code: 'no_run', message: 'it defines no run()' } };
  const names = parameters.split(',').map((parameter) => (parameter.split(/[:=]/)[0] as string).trim());
  return { ok: true, parameters: names.filter(Boolean) };
}

function inspectDraftSources(sources: { path: string; text: string }[], entrypoint: string): InspectReply {
  const source = sources.find(({ path }) => path === entrypoint)?.text ?? '';
  const { problem, parameters = [] } = inspectSource(source);
  const line = source.split('\n').findIndex((text) => text.includes('def run(')) + 1 || null;
  return {
    ok: !problem,
    parameters,
    places: parameters.map((name) => ({ kind: 'parameter', name, line, column: 9 })),
    problems: problem ? [{ ...problem, path: entrypoint, line, column: line }] : [],
  };
}

async function readZipSource(zip: Buffer, entrypoint: string): Promise<string> {
  const entry = (await readZip(zip, { entries: 2_000, bytes: 100 << 20 })).find((one) => one.path === entrypoint);
  if (!entry) throw new Error(`no ${entrypoint} in the code`);
  return (await entry.content()).toString();
}

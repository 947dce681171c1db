/** Looks for run() as an executor would, but with a regular expression: enough for the code of these tests. */
import { createHash } from 'node:crypto';
import { readZip } from '@gantry/archive';
import { type Bus, encode, type InspectReply, inspectRequest, listen, runSubjects } from '@gantry/events';
import { pino } from 'pino';

const RUN = /^(?:async )?def run\(([^)]*)\)/m;

export function serveInspections(bus: Bus): void {
  listen(
    bus,
    runSubjects.inspect,
    inspectRequest,
    async ({ code, draft, entrypoint }, message) => {
      if (draft) return void message.respond(encode(judgeDraft(draft.sources, entrypoint)));
      if (!code) throw new Error('nothing to inspect');
      const zip = Buffer.from(await (await fetch(code.url)).arrayBuffer());
      const digest = createHash('sha256').update(zip).digest('hex');
      if (digest !== code.digest || zip.length !== code.size) throw new Error('the code is not what was announced');
      message.respond(encode(judge(await readSource(zip, entrypoint))));
    },
    { queue: 'executors', log: pino({ level: 'silent' }) },
  );
}

function judge(source: string): InspectReply {
  if (source.includes('def run(:')) {
    return { ok: false, problem: { code: 'syntax_error', message: 'line 1: invalid syntax' } };
  }
  const [, parameters] = RUN.exec(source) ?? [];
  if (parameters === undefined) return { ok: false, problem: { code: 'no_run', message: 'it defines no run()' } };
  const names = parameters.split(',').map((parameter) => (parameter.split(/[:=]/)[0] as string).trim());
  return { ok: true, parameters: names.filter(Boolean) };
}

function judgeDraft(sources: { path: string; text: string }[], entrypoint: string): InspectReply {
  const source = sources.find(({ path }) => path === entrypoint)?.text ?? '';
  const { problem, parameters = [] } = judge(source);
  const line = source.split('\n').findIndex((text) => text.includes('def run(')) + 1 || null;
  return {
    ok: !problem,
    parameters,
    places: parameters.map((name) => ({ kind: 'parameter', name, line, column: 9 })),
    problems: problem ? [{ ...problem, path: entrypoint, line, column: line }] : [],
  };
}

async function readSource(zip: Buffer, path: string): Promise<string> {
  const entry = (await readZip(zip, { entries: 2_000, bytes: 100 << 20 })).find((one) => one.path === path);
  if (!entry) throw new Error(`no ${path} in the code`);
  return (await entry.content()).toString();
}

/** Streamed words of models, and images and files in questions to them. */
import { createHash } from 'node:crypto';
import {
  artifactReply,
  attachmentReply,
  decode,
  request,
  runSubjects,
  type ToolTextChunk,
  toolTextChunk,
} from '@gantry/events';
import { type FakeJob, setupResource, startScriptedModel, waitUntil, zeroUsage } from '@gantry/testing';
import { callModel, type ModelCall, readRun, startRunningJob } from '../test/call-model';
import { createCaller } from '../test/caller';
import { buildScriptedProvider, parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const model = setupResource(startScriptedModel, (one) => one.stop());
const api = testWorkerApi(() => {
  const provider = buildScriptedProvider(model.baseUrl);
  return { models: parseModels([provider, { ...provider, name: 'claude', kind: 'anthropic', api_key: 'k' }]) };
});
const executor = setupResource(() => api.connectExecutor());
const me = setupResource(() => createCaller(api.url, api.owner.jwt));

const heard: ToolTextChunk[] = [];
beforeAll(() => {
  executor.bus.nc.subscribe(runSubjects.toolText(executor.id, '*'), {
    callback: (_, message) => void heard.push(decode(toolTextChunk, message.data)),
  });
});
beforeEach(() => {
  heard.length = 0;
});
const words = (ordinal = 1): string =>
  heard
    .filter((one) => one.ordinal === ordinal)
    .map(({ text }) => text)
    .join('');

const startJob = (definition: object = {}) => startRunningJob(api, executor, { definition });
const read = (job: FakeJob) => readRun(api, job);
const sendQuestion = (job: FakeJob, modelCall: ModelCall = {}) =>
  callModel(executor, job, { tool: 'local/m', stream: true, ...modelCall });

test('text is streamed in order before the response, which has all of it', async () => {
  const job = await startJob();
  const text = 'One, two, three, four, five, six, seven, eight.';
  await model.says({ text, slowMs: 15 });
  expect(await sendQuestion(job)).toMatchObject({ result: { text } });
  expect(words()).toBe(text);
  expect(heard.length).toBeGreaterThan(1);
  // Together with others that come within a fifth of a second.
  expect(heard.length).toBeLessThan(text.length / 2);
  expect(heard.map(({ from }) => from)).toEqual(
    heard.map((_, at) => heard.slice(0, at).reduce((sum, one) => sum + one.text.length, 0)),
  );
  expect(heard.every(({ token }) => token === job.token)).toBe(true);
  heard.length = 0;
  expect(await sendQuestion(job)).toMatchObject({ result: { text } });
  expect(heard).toEqual([]);
});

test('a secret is masked wherever its characters are split, in the stream as in the response', async () => {
  await me.put('/api/secrets/SPLIT', { value: 'value-to-keep-4711' }).expect(201);
  const job = await startJob();
  await model.says({ text: 'It was value-to-keep-4711 or value-to-lose.', slowMs: 10 });
  const masked = 'It was *** or value-to-lose.';
  expect(await sendQuestion(job)).toMatchObject({ result: { text: masked } });
  expect(words()).toBe(masked);
  expect(JSON.stringify(heard)).not.toContain('to-keep');
});

test('an interrupted response was streamed until then, and is charged and not requested again', async () => {
  const job = await startJob();
  await model.says({ text: 'Half of it', cut: 4, slowMs: 10 }, { text: 'not asked' });
  expect(await sendQuestion(job)).toMatchObject({
    failed: { code: 'unavailable', message: expect.stringContaining('was interrupted') },
  });
  expect(words()).toBe('Half');
  expect(await model.asked()).toHaveLength(1);
  const { rows } = await api.deps.pool.query('SELECT outcome, usd FROM model_calls WHERE run_id = $1', [job.runId]);
  expect(rows).toEqual([{ outcome: 'failed', usd: expect.any(Number) }]);
  expect(rows[0].usd).toBeGreaterThan(0);
});

test('a response that takes too long ends with the text so far, and code that does not stream gets no text events', async () => {
  const job = await startJob();
  await model.says({ text: 'Slow and', hang: true });
  expect(await sendQuestion(job, { timeoutMs: 700 })).toMatchObject({ failed: { code: 'unavailable' } });
  expect(words()).toBe('Slow and');
  await model.says({ text: 'Quiet.', slowMs: 50 });
  expect(await sendQuestion(job, { ordinal: 2, stream: false })).toMatchObject({ result: { text: 'Quiet.' } });
  expect(words(2)).toBe('');
});

test('a run that was cancelled meanwhile pays once for the text so far, which is part of its cost', async () => {
  const job = await startJob();
  // Longer than a cancellation takes on any machine, which ends it.
  await model.says({ text: 'A long answer. '.repeat(1_000), slowMs: 40, usage: { input: 100, output: 10 } });
  const answer = sendQuestion(job);
  await waitUntil(() => heard.length > 0);
  await me.post(`/api/runs/${job.runId}/cancel`).expect(200);
  await job.report({
    type: 'finished',
    status: 'cancelled',
    usage: zeroUsage,
    error: { code: 'cancelled', message: 'x' },
  });
  await waitUntil(async () => (await read(job)).status === 'cancelled');
  await answer;
  const paid = await waitUntil(async () => (await read(job)).total_cost_usd);
  const { rows } = await api.deps.pool.query('SELECT outcome, usd FROM model_calls WHERE run_id = $1', [job.runId]);
  expect(rows).toEqual([{ outcome: 'stopped', usd: expect.closeTo(paid) }]);
});

// --- images and files ---

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const buildFilePart = (data: Buffer, type: string, media_type: string, name?: string) => ({
  type,
  sha256: sha256(data),
  media_type,
  ...(name && { name }),
});
const about = (...parts: object[]) => [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...parts] }];

async function place({ runId, attempt, token }: FakeJob, data: Buffer, over: object = {}) {
  const wanted = { purpose: 'attachment', name: sha256(data), contentType: 'image/png', size: data.length, ...over };
  const subject = runSubjects.artifact('worker', executor.id);
  return request(executor.bus, subject, { runId, attempt, token, ...wanted }, attachmentReply, 5_000);
}
async function uploadFile(job: FakeJob, data: Buffer, contentType = 'image/png') {
  const placed = await place(job, data, { contentType });
  if (!('url' in placed)) return placed;
  const put = await fetch(placed.url, {
    method: 'PUT',
    headers: { 'content-type': contentType },
    body: new Uint8Array(data),
  });
  expect(put.ok).toBe(true);
  return placed;
}

test('an image of the run is sent to the model, transferred once, and is no artifact', async () => {
  const job = await startJob();
  expect(await uploadFile(job, PNG)).toMatchObject({ key: expect.stringMatching(/\/attachments\/[0-9a-f]{64}$/) });
  expect(await uploadFile(job, PNG)).toEqual({ known: true });
  await model.says({ text: 'A picture.' }, { text: 'The same.' });
  const messages = about(buildFilePart(PNG, 'image', 'image/png'));
  expect(await sendQuestion(job, { messages })).toMatchObject({ result: { text: 'A picture.' } });
  const [asked] = await model.asked();
  const url = `data:image/png;base64,${PNG.toString('base64')}`;
  expect(asked?.body.messages[0]?.content).toContainEqual({ type: 'image_url', image_url: { url } });
  expect((await read(job)).artifacts).toEqual([]);
  // The estimate for an image does not depend on its length in bytes.
  const { rows } = await api.deps.pool.query('SELECT reserved_usd FROM model_calls WHERE run_id = $1', [job.runId]);
  expect(rows[0].reserved_usd).toBeGreaterThan(0.007);
  expect(rows[0].reserved_usd).toBeLessThan(0.0075);
});

test('a text file becomes text without secrets, a PDF a document, and a model that accepts none reports it', async () => {
  await me.put('/api/secrets/KEPT', { value: 'value-to-keep-4711' });
  const job = await startJob();
  const [text, pdf] = [Buffer.from('a,value-to-keep-4711'), Buffer.from('%PDF-1.4 x')];
  await uploadFile(job, text, 'text/csv');
  await uploadFile(job, pdf, 'application/pdf');
  await model.says({ text: 'ok' }, { text: 'ok' });
  const csv = buildFilePart(text, 'file', 'text/csv', 'rows.csv');
  expect(await sendQuestion(job, { messages: about(csv) })).toMatchObject({ result: { text: 'ok' } });
  const document = buildFilePart(pdf, 'file', 'application/pdf', 'x.pdf');
  expect(await sendQuestion(job, { ordinal: 2, tool: 'claude/m', messages: about(document) })).toMatchObject({
    result: { text: 'ok' },
  });
  const [first, second] = await model.asked();
  expect(JSON.stringify(first?.body)).toContain('rows.csv:\\na,***');
  expect(JSON.stringify(second?.body)).toContain('"type":"document"');
});

test('a file that the run has not transferred itself, or whose content was replaced, is not sent', async () => {
  const [job, other] = [await startJob(), await startJob()];
  await uploadFile(other, PNG);
  await model.says({ text: 'not asked' });
  const messages = about(buildFilePart(PNG, 'image', 'image/png'));
  const refused = {
    failed: { code: 'invalid_arguments', message: expect.stringContaining('has not provided the image') },
  };
  expect(await sendQuestion(job, { messages })).toMatchObject(refused);
  const changed = Buffer.concat([PNG.subarray(1), Buffer.from('x')]);
  const placed = (await place(job, PNG)) as { url: string };
  const headers = { 'content-type': 'image/png' };
  await fetch(placed.url, { method: 'PUT', headers, body: new Uint8Array(changed) });
  expect(await sendQuestion(job, { ordinal: 2, messages })).toMatchObject(refused);
  expect(await model.asked()).toEqual([]);
});

test.each([
  ['a key', { ...buildFilePart(PNG, 'image', 'image/png'), sha256: '../../secret' }, /SHA-256/],
  ['a program', buildFilePart(PNG, 'file', 'application/x-sh'), /media_type|must be one of/],
  ['a text as an image', buildFilePart(PNG, 'image', 'text/plain'), /is not an image type/],
  ['bytes in the question', { type: 'image', data: 'AAAA', media_type: 'image/png' }, /messages/],
])('%s is refused in a request', async (_, part, says) => {
  const job = await startJob();
  expect(await sendQuestion(job, { messages: about(part) })).toMatchObject({
    failed: { code: 'invalid_arguments', message: expect.stringMatching(says) },
  });
});

test('eleven files are too many, and an upload location is given for no other name and no more bytes', async () => {
  const job = await startJob();
  const many = Array.from({ length: 11 }, () => buildFilePart(PNG, 'image', 'image/png'));
  expect(await sendQuestion(job, { messages: about(...many) })).toMatchObject({
    failed: { message: expect.stringContaining('images and files, but this one has 11') },
  });
  expect(await place(job, PNG, { name: 'x' })).toMatchObject({ refused: expect.stringContaining('SHA-256') });
  expect(await place(job, PNG, { size: (5 << 20) + 1 })).toMatchObject({ refused: expect.stringContaining('limit') });
  const foreign = { runId: job.runId, attempt: job.attempt, token: 'tok_of_somebody' };
  const asked = { ...foreign, purpose: 'attachment', name: sha256(PNG), contentType: 'image/png', size: PNG.length };
  const subject = runSubjects.artifact('worker', executor.id);
  expect(await request(executor.bus, subject, asked, artifactReply, 5_000)).toHaveProperty('refused');
});

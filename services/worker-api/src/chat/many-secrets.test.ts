/** Fifteen conversations take their steps at once in a workspace that has as many ordinary secrets as it may. */
import { given, measureLongestTurn, startScriptedModel } from '@gantry/testing';
import { callerOf } from '../test/caller';
import { parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const BLOCKED_MS_MAX = 50;
const CONVERSATIONS = 15;
const SECRETS = 480;

const model = given(startScriptedModel, (one) => one.stop());
const api = testWorkerApi(() => ({
  models: parseModels([{ name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'] }]),
}));
const owner = given(() => callerOf(api.url, api.owner.jwt));

const secretValue = (at: number) => `secret-${at}/`.padEnd(60, `${at}+"x`);
const MESSAGE = `Use ${secretValue(3)}. ${'A secret is not in here. '.repeat(3_500)}`;

beforeAll(async () => {
  for (let at = 0; at < SECRETS; at++) {
    await owner.put(`/api/secrets/SECRET_${at}`, { value: secretValue(at) }).expect(201);
  }
}, 60_000);

async function chat(): Promise<void> {
  const { body } = await owner.post('/api/chat', { message: MESSAGE, stream: false }).expect(200);
  expect(body.status).toBe('completed');
}
const chatInEach = () => Promise.all(Array.from({ length: CONVERSATIONS }, chat));

beforeEach(() => {
  const list = { calls: [{ name: 'list_workers', input: {} }] };
  return model.answersTurns(list, list, { text: 'None.' });
});

test('their steps leave turns of the event loop to everybody else, and no secret to the model', async () => {
  await chat();
  const blockedMs = await measureLongestTurn(chatInEach, BLOCKED_MS_MAX);
  const asked = await model.asked();
  expect(JSON.stringify(asked.map(({ body }) => body))).not.toContain(secretValue(3).slice(0, 40));
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
}, 180_000);

test('the tools of each are masked once, whatever its number of steps', async () => {
  const { redactorFor } = api.deps.masking;
  const masked: string[] = [];
  const redactor = await redactorFor([secretValue(0)]);
  const maskText = (text: string) => {
    masked.push(text);
    return redactor.text(text);
  };
  const recording = { ...redactor, text: maskText };
  const replaced = jest.spyOn(api.deps.masking, 'redactorFor').mockResolvedValue(recording);
  await chatInEach();
  replaced.mockRestore();
  expect(await model.asked()).toHaveLength(3 * CONVERSATIONS);
  expect(masked.filter((text) => text.startsWith('Finds workers by text'))).toHaveLength(CONVERSATIONS);
});

/** Chats of a workspace with many secrets: masking what their models are sent delays no other request. */
import { measureLongestTurn, setupResource, startScriptedModel } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const BLOCKED_MS_MAX = 50;
const CHATS = 15;

const model = setupResource(startScriptedModel, (one) => one.stop());
const api = testWorkerApi(() => ({
  models: parseModels([{ name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'] }]),
}));

test('fifteen simultaneous long messages, in a workspace with 480 secrets, do not block the event loop', async () => {
  const me = createCaller(api.url, api.owner.jwt);
  const value = (at: number) => `secret-${at}-`.padEnd(60, `${at}/+"x`);
  for (let at = 0; at < 480; at++) await me.put(`/api/secrets/KEY_${at}`, { value: value(at) }).expect(201);
  const message = `${value(7)} ${'secret-'.repeat(14_120)}`.slice(0, 99_000);
  const work = async () => {
    await model.says(...Array.from({ length: CHATS }, () => ({ text: 'Read.' })));
    const chats = Array.from({ length: CHATS }, () => me.post('/api/chat', { message, stream: false }).expect(200));
    for (const { body } of await Promise.all(chats)) expect(body.status).toBe('completed');
  };
  // Once before: what is compiled and what is loaded does not count.
  await work();
  const blockedMs = await measureLongestTurn(work, BLOCKED_MS_MAX);
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
  const asked = JSON.stringify(await model.asked());
  expect(asked).toMatch(/[*]{3} secret-/);
  expect(asked).not.toContain(value(7).slice(0, 12));
});

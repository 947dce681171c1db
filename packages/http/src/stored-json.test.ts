import { measureLongestTurn } from '@gantry/testing';
import express from 'express';
import request from 'supertest';
import { encodeJson, StoredJson, sendStoredJson } from './stored-json';

const createStored = (value: unknown) => new StoredJson(Buffer.from(JSON.stringify(value)));

async function sendBody(body: unknown) {
  const app = express().use(sendStoredJson, (_req, res) => void res.status(201).json(body));
  return request(app)
    .get('/')
    .expect(201)
    .expect('Content-Type', /^application\/json/);
}

test('a response contains stored JSON unchanged, at any depth and any number of times', async () => {
  const large = createStored({ text: 'ä"\\', list: [1, null] });
  const { body } = await sendBody({
    id: 'run_1',
    result: { outputs: large },
    again: [large, createStored(7)],
    nothing: null,
  });
  const value = { text: 'ä"\\', list: [1, null] };
  expect(body).toEqual({ id: 'run_1', result: { outputs: value }, again: [value, 7], nothing: null });
});

test('a response without stored JSON is unchanged', async () => {
  expect((await sendBody({ id: 'run_1', list: ['$&'] })).text).toBe('{"id":"run_1","list":["$&"]}');
});

test.each([
  ['an object', { a: 1 }, { a: 1 }],
  ['a list', [1], { result: [1] }],
  ['a text', '{', { result: '{' }],
])('%s is wrapped as an object', (_what, value, expected) => {
  expect(JSON.parse(encodeJson(createStored(value).asObject('result')).toString())).toEqual(expected);
});

test('it is parsed when serialized outside of a response', () => {
  expect(JSON.parse(JSON.stringify({ kept: createStored({ a: [1] }) }))).toEqual({ kept: { a: [1] } });
});

const BLOCKED_MS_MAX = 50;

test('the largest output blocks the event loop for at most 50 ms', async () => {
  const large = createStored(Array.from({ length: 600_000 }, (_, at) => `item ${at}`));
  const blockedMs = await measureLongestTurn(() => encodeJson({ output: large.asObject('result') }), BLOCKED_MS_MAX);
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
});

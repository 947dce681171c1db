import type { Request, Response } from 'express';
import { type Health, health } from './health';

async function ask(subject: Health) {
  const answer = { status: 200, body: undefined as unknown };
  const res = {
    status: (status: number) => {
      answer.status = status;
      return res;
    },
    set: () => res,
    json: (body: unknown) => {
      answer.body = body;
    },
  };
  await subject.operations.ready?.({} as Request, res as unknown as Response);
  return answer;
}

test('readiness names what is down and comes back by itself', async () => {
  let up = false;
  const subject = health({ postgres: async () => up || Promise.reject(new Error('down')), nats: async () => true });
  expect(await ask(subject)).toEqual({ status: 503, body: { status: 'unavailable', down: ['postgres'] } });
  up = true;
  expect(await ask(subject)).toEqual({ status: 200, body: { status: 'ok' } });
});

test('a draining service says so although everything is up', async () => {
  const subject = health({});
  subject.drain();
  expect(await ask(subject)).toEqual({ status: 503, body: { status: 'draining' } });
});

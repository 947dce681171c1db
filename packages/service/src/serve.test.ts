import { freePort, until } from '@gantry/testing';
import express from 'express';
import { pino } from 'pino';
import { openDoor } from './serve';

afterEach(() => jest.restoreAllMocks());

test.each(['127.0.0.1', '::'])(
  'on %s a service is alive before it can work, says what it waits for, and then serves',
  async (host) => {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const door = await openDoor({ errorShape: 'detail', host, port });
    const get = async (path: string) => {
      const answer = await fetch(`http://${host === '::' ? '[::1]' : host}:${port}${path}`);
      return { status: answer.status, body: await answer.json() };
    };
    expect(await get('/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
    expect(await get('/health')).toEqual({ status: 503, body: { status: 'starting' } });
    door.waitsFor(['NATS runs without JetStream']);
    expect(await get('/health')).toEqual({
      status: 503,
      body: { status: 'starting', problems: ['NATS runs without JetStream'] },
    });
    await expect(get('/api/workers')).rejects.toThrow();

    const app = express().get('/health', (_req, res) => void res.json({ status: 'ok' }));
    const ending = { drain: () => {}, close: async () => {} };
    door.letIn({ app, ...ending }, { metricsPort, log: pino({ level: 'silent' }) });
    expect(await get('/health')).toEqual({ status: 200, body: { status: 'ok' } });
    const exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
    process.emit('SIGTERM');
    await until(() => exit.mock.calls.length > 0);
    expect(exit).toHaveBeenCalledWith(0);
    await expect(get('/health')).rejects.toThrow();
  },
);

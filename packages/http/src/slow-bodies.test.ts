/** Opens real sockets that send half of a body and wait, like an attacker who exhausts connections. */
import { createServer, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { AppError } from '@gantry/errors';
import { plainHasher, setupPool, waitUntil } from '@gantry/testing';
import { pino } from 'pino';
import { type Call, ok } from './handler';
import { createSurface } from './surface';
import { createMemoryStorage, readBody } from './upload';

const pool = setupPool('automation-api');
let server: Server;
const sockets: net.Socket[] = [];

beforeAll(async () => {
  server = createServer(
    createSurface({
      openapiFile: path.join(__dirname, 'test/uploads.yaml'),
      operations: {
        uploadPack: async ({ req }: Call) => {
          const isRaw = !req.is('multipart/form-data') && !req.is('application/json');
          return ok({ bytes: isRaw ? (await readBody(req, 1_000)).length : 0 });
        },
      },
      authenticate: async (req) => {
        const [, token] = req.get('Authorization')?.split(' ') ?? [];
        if (!token) return null;
        if (token === 'bad') throw new AppError('unauthorized', 'bad_credential', 'no such token');
        const person = { userId: token, email: null, emailVerified: false, name: null, tokenId: token };
        return { kind: 'jwt', ...person, workspaceId: 'ws_a', role: 'member', memberships: { ws_a: 'member' } };
      },
      errorShape: 'error',
      pool,
      hasher: plainHasher,
      log: pino({ level: 'silent' }),
      uploads: { storage: createMemoryStorage(1_000) },
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await waitUntil(async () => (await connections()) === 0);
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});

const connections = () => new Promise<number>((resolve) => server.getConnections((_err, count) => resolve(count)));

const FORM = 'multipart/form-data; boundary=x';
const HALF_OF_A_FORM = '--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\nhalf of';

interface HalfSentRequest {
  status: () => number | undefined;
  isClosed: () => boolean;
  socket: net.Socket;
}

/** Announces 900 bytes and sends fewer. @param from the address that a proxy saw */
function sendHalf(
  type: string,
  half: string,
  { token = 'tok_a', from = '192.0.2.1', bytes = 900, allowHalfOpen = false } = {},
): HalfSentRequest {
  const { port } = server.address() as AddressInfo;
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen });
  sockets.push(socket);
  let answer = '';
  let closed = false;
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.on('close', () => {
    closed = true;
  });
  socket.on('error', () => {});
  const head = ['POST /api/packs HTTP/1.1', 'Host: x', `X-Forwarded-For: ${from}`, `Content-Length: ${bytes}`];
  if (token) head.push(`Authorization: Bearer ${token}`);
  socket.write(`${[...head, `Content-Type: ${type}`].join('\r\n')}\r\n\r\n${half}`);
  return {
    status: () => (/^HTTP\/1\.1 (\d+)/.exec(answer) ? Number(answer.slice(9, 12)) : undefined),
    isClosed: () => closed,
    socket,
  };
}

async function upload(options: { token: string; from: string }): Promise<number> {
  const { port } = server.address() as AddressInfo;
  const body = new FormData();
  body.append('a', new Blob(['whole']), 'a.txt');
  const answer = await fetch(`http://127.0.0.1:${port}/api/packs`, {
    method: 'POST',
    body,
    headers: { Authorization: `Bearer ${options.token}`, 'X-Forwarded-For': options.from, Connection: 'close' },
  });
  return answer.status;
}

test('half-sent forms of one credential, and of one address, do not block others', async () => {
  for (let i = 0; i < 40; i++) sendHalf(FORM, HALF_OF_A_FORM, { token: `tok_${i % 4}`, from: '192.0.2.1' });
  await waitUntil(async () => (await upload({ token: 'tok_9', from: '192.0.2.1' })) === 429);
  expect(await upload({ token: 'tok_9', from: '192.0.2.2' })).toBe(200);
  for (let i = 0; i < 8; i++) sendHalf(FORM, HALF_OF_A_FORM, { token: 'tok_7', from: '192.0.2.3' });
  await waitUntil(async () => (await upload({ token: 'tok_7', from: '192.0.2.4' })) === 429);
  expect(await upload({ token: 'tok_8', from: '192.0.2.3' })).toBe(200);
  for (const socket of sockets) socket.destroy();
  await waitUntil(async () => (await upload({ token: 'tok_7', from: '192.0.2.1' })) === 200);
});

test('without a valid credential the body is not awaited', async () => {
  const without = sendHalf(FORM, HALF_OF_A_FORM, { token: '' });
  const bad = sendHalf('application/json', '{"half', { token: 'bad' });
  await waitUntil(() => without.status() === 401 && bad.status() === 401);
});

test('a large unread body is cut off after the response, and a small one is discarded', async () => {
  const large = sendHalf('application/json', '{', { token: '', bytes: 10_000_000 });
  const small = sendHalf('application/json', '{"a":1}', { token: '', bytes: 7 });
  await waitUntil(() => large.isClosed());
  expect(large.status()).toBe(401);
  expect(small.isClosed()).toBe(false);
  // The same connection serves the next request.
  small.socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
  let more = '';
  small.socket.on('data', (chunk) => {
    more += chunk;
  });
  await waitUntil(() => more.includes('404 Not Found'));
});

test('a slow body is aborted with 408: a form, JSON or bytes', async () => {
  const halves = [
    sendHalf(FORM, HALF_OF_A_FORM),
    sendHalf('application/json', '{"half": "of'),
    sendHalf('image/png', 'half of'),
  ];
  const trickle = setInterval(() => {
    for (const { socket } of halves) if (socket.writable) socket.write('x');
  }, 1_000);
  try {
    await waitUntil(() => halves.every(({ status }) => status() === 408));
    await waitUntil(() => halves.every(({ isClosed }) => isClosed()));
  } finally {
    clearInterval(trickle);
  }
});

test('a refused sender of a large body gets the response, and may send the rest before the close', async () => {
  const half = sendHalf('application/json', 'x'.repeat(100_000), { token: '', bytes: 900_000, allowHalfOpen: true });
  await waitUntil(() => half.status() === 401);
  for (let sent = 100_000; sent < 900_000; sent += 100_000) {
    await new Promise<void>((resolve, reject) => {
      half.socket.write('x'.repeat(100_000), (err) => (err ? reject(err) : resolve()));
    });
  }
  half.socket.end();
  await waitUntil(half.isClosed);
});

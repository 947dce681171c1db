import { type Logger, pino } from 'pino';
import { logOptions } from './log';

function captureLine(log: (logger: Logger) => void): string {
  let line = '';
  const write = (text: string) => {
    line += text;
  };
  log(pino({ level: 'debug', ...logOptions }, { write }));
  return line;
}

const randomText = 'Xq3'.repeat(17);

test.each([
  ['a token', `sent svc_${randomText}`, randomText],
  ['a link', `opens https://x.test/reset-password#rst_${randomText}`, randomText],
  ['a review link', `rvw_${'a'.repeat(21)}.${'b'.repeat(43)}`, 'b'.repeat(43)],
  ['a JWT', `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfMSJ9.${randomText}`, randomText],
  ['a signature', `GET /storage/ws_a/x?method=GET&sig=${randomText}`, randomText],
  ['a signature, encoded', `GET /storage/ws_a/x%3Fsig%3D${randomText}`, randomText],
  [
    'the secret of an alert',
    `whsec_${Buffer.from(randomText).toString('base64')}`,
    Buffer.from(randomText).toString('base64'),
  ],
  ['a header', `Authorization: Bearer ${randomText}`, randomText],
  ['an address with a password', `smtp://mailer:${randomText}@mail.test`, randomText],
])('%s is redacted everywhere in a line', (_what, text, secret) => {
  expect(captureLine((log) => log.info({ text, deep: { list: [text] } }, text))).not.toContain(secret);
  expect(captureLine((log) => log.error({ err: new Error(text, { cause: new Error(text) }) }, 'failed'))).not.toContain(
    secret,
  );
});

test('an error is logged without the properties that a library attached to it', () => {
  const err = Object.assign(new Error('duplicate key', { cause: new Error('below') }), {
    code: '23505',
    constraint: 'tokens_pkey',
    detail: 'Key (hash)=(plain) already exists.',
    config: { data: 'plain' },
  });
  const line = captureLine((log) => log.error({ err }, 'failed'));
  expect(JSON.parse(line).err).toMatchObject({
    type: 'Error',
    message: 'duplicate key: below',
    code: '23505',
    constraint: 'tokens_pkey',
    stack: expect.stringContaining('log.test'),
  });
  expect(line).not.toContain('plain');
});

test('ids are not redacted', () => {
  const line = captureLine((log) =>
    log.info({ runId: 'run_4f9KqL2mXw0aVbN7sTe1R', requestId: 'req_4f9KqL2mXw0aVbN7sTe1R' }, 'x'),
  );
  expect(line).toContain('run_4f9KqL2mXw0aVbN7sTe1R');
});

import { type Logger, pino } from 'pino';
import { logOptions } from './log';

function lineOf(log: (logger: Logger) => void): string {
  let line = '';
  const write = (text: string) => {
    line += text;
  };
  log(pino({ level: 'debug', ...logOptions }, { write }));
  return line;
}

const random = 'Xq3'.repeat(17);

test.each([
  ['a token', `sent svc_${random}`, random],
  ['a link', `opens https://x.test/reset-password#rst_${random}`, random],
  ['a review link', `rvw_${'a'.repeat(21)}.${'b'.repeat(43)}`, 'b'.repeat(43)],
  ['a JWT', `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfMSJ9.${random}`, random],
  ['a signature', `GET /storage/ws_a/x?method=GET&sig=${random}`, random],
  ['a signature, encoded', `GET /storage/ws_a/x%3Fsig%3D${random}`, random],
  ['the secret of an alert', `whsec_${Buffer.from(random).toString('base64')}`, Buffer.from(random).toString('base64')],
  ['a header', `Authorization: Bearer ${random}`, random],
  ['an address with a password', `smtp://mailer:${random}@mail.test`, random],
])('%s is redacted everywhere in a line', (_what, text, secret) => {
  expect(lineOf((log) => log.info({ text, deep: { list: [text] } }, text))).not.toContain(secret);
  expect(lineOf((log) => log.error({ err: new Error(text, { cause: new Error(text) }) }, 'failed'))).not.toContain(
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
  const line = lineOf((log) => log.error({ err }, 'failed'));
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
  const line = lineOf((log) =>
    log.info({ runId: 'run_4f9KqL2mXw0aVbN7sTe1R', requestId: 'req_4f9KqL2mXw0aVbN7sTe1R' }, 'x'),
  );
  expect(line).toContain('run_4f9KqL2mXw0aVbN7sTe1R');
});

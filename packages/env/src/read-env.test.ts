import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { type InvalidEnvError, parseEnv, readEnv } from './read-env';

const schema = z.object({
  DATABASE_URL: z.url(),
  PORT: z.coerce.number().int(),
  SETUP_TOKEN: z.string().min(16).optional(),
  LOG_LEVEL: z.enum(['info', 'warn']).default('info'),
});
const DATABASE_URL = 'postgres://gantry:s3cret@db/worker_api';

let dir: string;
beforeAll(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'env-'));
});
afterAll(() => fs.rmSync(dir, { recursive: true }));

function createFile(text: string): string {
  const file = path.join(fs.mkdtempSync(path.join(dir, 'value-')), 'value');
  fs.writeFileSync(file, text);
  return file;
}

function getProblems(env: Record<string, string>): string[] {
  try {
    parseEnv(schema, env);
    return [];
  } catch (err) {
    return (err as InvalidEnvError).problems;
  }
}

test.each([
  ['a final newline is no part of the value', 'a-long-enough-token\n', 'a-long-enough-token'],
  ['a second newline and spaces are', ' a-long-enough-token\n\n', ' a-long-enough-token\n'],
  ['a file without a newline is taken as it is', 'a-long-enough-token', 'a-long-enough-token'],
])('%s', (_, text, token) => {
  const env = { DATABASE_URL_FILE: createFile(`${DATABASE_URL}\n`), PORT: '80', SETUP_TOKEN_FILE: createFile(text) };
  expect(parseEnv(schema, env)).toEqual({ DATABASE_URL, PORT: 80, SETUP_TOKEN: token, LOG_LEVEL: 'info' });
});

test('a file variable that is empty counts as unset', () => {
  expect(parseEnv(schema, { DATABASE_URL, DATABASE_URL_FILE: '', PORT: '80' })).toMatchObject({ DATABASE_URL });
});

test('every problem is one line, and none shows the content of a file', () => {
  const token = 'too-short';
  const file = createFile(token);
  const absent = path.join(dir, 'absent');
  const problems = getProblems({
    DATABASE_URL,
    DATABASE_URL_FILE: createFile(DATABASE_URL),
    SETUP_TOKEN_FILE: file,
    LOG_LEVEL_FILE: absent,
  });
  expect(problems).toEqual([
    'DATABASE_URL_FILE: set either DATABASE_URL or DATABASE_URL_FILE, not both',
    `LOG_LEVEL_FILE: cannot read ${absent}: ENOENT: no such file or directory`,
    'PORT: set PORT or PORT_FILE',
    expect.stringMatching(`^SETUP_TOKEN, from ${file}: .*16`),
  ]);
  expect(problems.join()).not.toMatch(new RegExp(`${token}|s3cret`));
});

test('a directory in place of a file is named with its path', () => {
  expect(getProblems({ DATABASE_URL, PORT_FILE: dir })).toEqual([
    `PORT_FILE: cannot read ${dir}: EISDIR: illegal operation on a directory`,
  ]);
});

test('a process exits with code 78 and reports every problem', () => {
  const exit = jest.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(() => readEnv(schema, { LOG_LEVEL: 'loud' })).toThrow('exit 78');
    expect(String(written.mock.calls[0]?.[0]).split('\n')).toEqual([
      'invalid configuration: DATABASE_URL: set DATABASE_URL or DATABASE_URL_FILE',
      'invalid configuration: PORT: set PORT or PORT_FILE',
      expect.stringContaining('invalid configuration: LOG_LEVEL: Invalid option'),
      '',
    ]);
  } finally {
    exit.mockRestore();
    written.mockRestore();
  }
});

import { FINDINGS_MAX, findCredentials, formatFindingWarning } from './credential-findings';

const listKinds = (text: string | Buffer) =>
  findCredentials({ path: 'a.txt', content: Buffer.from(text) }).map(({ line, kind }) => `${line} ${kind}`);
const letters = (count: number) => 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'.repeat(10).slice(0, count);

// Assembled here, so that no secret scanner flags this file.
const samples: [string, string][] = [
  ['private_key', `-----BEGIN ${'RSA PRIVATE'} KEY-----`],
  ['private_key', `-----BEGIN ${'PRIVATE'} KEY-----`],
  ['aws_access_key', `AKIA${'IOSFODNN7EXAMPLE'}`],
  ['github_token', `ghp_${letters(36)}`],
  ['github_token', `github_pat_${letters(82)}`],
  ['gitlab_token', `glpat-${letters(20)}`],
  ['slack_token', `xoxb-${'123456789012'}-abc`],
  ['stripe_key', `sk_live_${letters(24)}`],
  ['anthropic_key', `sk-ant-${'api03'}-${letters(30)}`],
  ['openai_key', `sk-${letters(48)}`],
  ['openai_key', `sk-proj-${letters(48)}`],
  ['google_api_key', `AIza${letters(35)}`],
  ['npm_token', `npm_${letters(36)}`],
  ['sendgrid_key', `SG.${letters(22)}.${letters(43)}`],
  ['gantry_token', `wst_${letters(49)}`],
  ['jwt', `eyJ${letters(20)}.eyJ${letters(20)}.${letters(20)}`],
  ['url_password', 'postgres://app:correct-horse@db/app'],
];

test.each(samples)('%s is found on its line, alone and in a sentence', (kind, sample) => {
  expect(listKinds(`first\nsecond ${sample}\nthird`)).toContain(`2 ${kind}`);
  expect(listKinds(`KEY="${sample}"`)).toContain(`1 ${kind}`);
  expect(JSON.stringify(findCredentials({ path: 'a', content: Buffer.from(sample) }))).not.toContain(sample.slice(6));
});

test('a value assigned to a name like password counts if it looks random', () => {
  expect(listKinds('db_password = "hG7$kP2!xQ9z"\nAPI_KEY: 9f86d081884c7d65\n"token": "a8f5f167f44f4964"')).toEqual([
    '1 assigned_secret',
    '2 assigned_secret',
    '3 assigned_secret',
  ]);
});

test.each([
  'password = os.environ["PASSWORD"]',
  'password: $DB_PASSWORD_1',
  'password: {{ db_password1 }}',
  'token = "your-token-here-1"',
  'secret=aaaaaaaaaaaa1',
  'A password: everybody needs one.',
  'tokens = tokenizer(sentence)',
  'sk-learn-contrib is a package; task-sk-something',
  'https://example.com:8080/path@here',
  'https://user:$PASSWORD@host',
  'eyJ is how a JWT begins',
])('%s is no credential', (text) => {
  expect(listKinds(text)).toEqual([]);
});

test('binary files are not searched, and the number of findings is limited', () => {
  expect(listKinds(Buffer.concat([Buffer.from([0]), Buffer.from(samples[2]?.[1] ?? '')]))).toEqual([]);
  expect(listKinds(`${samples[2]?.[1]}\n`.repeat(1_000))).toHaveLength(FINDINGS_MAX);
});

test('a warning names the place and not the value', () => {
  expect(formatFindingWarning({ path: 'a.env', line: 3, kind: 'stripe_key' })).toMatch(
    /^a\.env:3 looks like .*stripe_key/,
  );
});

test.each([
  'eyJ-',
  'eyJaaaaaaaaaaaa.',
  'password=',
  'password = ',
  'a://a:',
  '-----BEGIN RSA ',
  'sk-',
  'ghp_a',
  'SG.aaaaaaaaaaaaaaaaaaaaaa.',
  'xoxb-',
  '"type" : ',
])('2 MB of %j take as long as ordinary text', (piece) => {
  const content = Buffer.from(piece.repeat((2 << 20) / piece.length));
  // Anything worse than linear would run into the time limit of tests.
  expect(findCredentials({ path: 'a', content }).length).toBeLessThanOrEqual(1);
});

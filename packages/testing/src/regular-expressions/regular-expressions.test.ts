/** The time of every regular expression of ours grows with the text and not faster, for every author of the text. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import {
  type Expression,
  findExpressions,
  findExpressionsInNginx,
  findExpressionsInOpenApi,
  findExpressionsInPython,
  findExpressionsInTypeScript,
} from './find-expressions';

const root = path.resolve(__dirname, '../../../..');

/** As `file:line: /expression/ takes …`. */
function listProblems(expressions: Expression[]): string[] {
  const inQuestion = expressions.filter(({ reason }) => reason === null);
  const known = inQuestion.flatMap(({ source, flags }) => (source === null ? [] : [{ source, flags }]));
  const different = [...new Map(known.map((one) => [`/${one.source}/${one.flags}`, one]))];
  const { stdout, stderr, status } = spawnSync(process.execPath, [path.join(__dirname, 'check-expressions.cjs')], {
    input: JSON.stringify(different.map(([, one]) => one)),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  const problems = JSON.parse(stdout) as (string | null)[];
  const problemOf = new Map(different.map(([key], index) => [key, problems[index] ?? null]));
  return inQuestion.flatMap(({ source, flags, file, line }) => {
    if (source === null)
      return [`${file}:${line}: is put together at run time; say in a comment "Linear: …" why it is`];
    const problem = problemOf.get(`/${source}/${flags}`);
    return problem ? [`${file}:${line}: /${source}/${flags} ${problem}`] : [];
  });
}

test('every one in the sources is linear, or states why it is', () => {
  const expressions = findExpressions(root);
  for (const [from, least] of [
    ['services/executor/python/', 3],
    ['openapi/', 30],
    ['services/gateway/', 5],
    ['services/', 80],
    ['packages/', 60],
  ] as const) {
    expect([from, expressions.filter(({ file }) => file.startsWith(from)).length >= least]).toEqual([from, true]);
  }
  expect(listProblems(expressions)).toEqual([]);
}, 900_000);

test('a non-linear one is found wherever it is written, with its file and line', () => {
  const planted = [
    ...findExpressionsInTypeScript(
      'a.ts',
      "const A = 'a+';\n\nexport const trim = (text: string) => text.replace(/\\s+$/, '');\nnew RegExp(`^(\u0024{A})+$`, 'u');\n",
    ),
    ...findExpressionsInTypeScript(
      'b.tsx',
      "const schema = {\n  pattern: '^(\\\\w|\\\\d)+$' };\nnew RegExp(given);\n// Linear: at most ten characters long.\nnew RegExp(given);\n",
    ),
    ...findExpressionsInTypeScript(
      'fine.mjs',
      "/^[a-z]+$/u.test(x); /(?<!=)=+$/.test(x); 'a'.split(/,/); const s = 'no /\\s+$/ here';\n",
    ),
    ...findExpressionsInOpenApi(
      'c.yaml',
      "a:\n  type: string\n  pattern: '^(a+)+$'\nproperties:\n  pattern: { type: string }\n",
    ),
    ...findExpressionsInPython([
      {
        file: 'd.py',
        text: 'import re\nX = re.compile(r"(?P<x>a*)*\\Z")\nre.search(X, y)\n# Linear: because X is.\nre.search(X, y)\n',
      },
    ]),
    ...findExpressionsInNginx(
      'e.template',
      '  location ~ ^/(a|a)+$ {\n  map $x $y {\n    "~^(b+)+$"  1;\n    ~:\u0024{PORT}$ two;\n',
    ),
  ];
  expect(
    listProblems(planted).map((problem) =>
      problem.replace(/ takes (exponential|\d\w\w degree polynomial) time.*| is put.*/s, ' $1').trim(),
    ),
  ).toEqual([
    'a.ts:3: /\\s+$/ 2nd degree polynomial',
    'a.ts:4: /^(a+)+$/u exponential',
    'b.tsx:2: /^(\\w|\\d)+$/u exponential',
    'b.tsx:3:',
    'c.yaml:3: /^(a+)+$/u exponential',
    'd.py:2: /(?<x>a*)*$/ exponential',
    'd.py:3:',
    'e.template:1: /^/(a|a)+$/ exponential',
    'e.template:3: /^(b+)+$/ exponential',
  ]);
});

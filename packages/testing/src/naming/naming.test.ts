/** Names are those of the field, and comments and pages name their actors: CONTRIBUTING.md has the rules. */
import path from 'node:path';
import { expectSources } from '../architecture/expect-sources';
import { checkSource, findUnidiomaticNames } from './find-unidiomatic-names';

const root = path.resolve(__dirname, '../../../..');

/** Names that are standard as they are, with the reason. */
const EXCEPTIONS = new Map([
  ...['signIn', 'isSignedIn', 'checkSignIn', 'useLinkSignIn'].map(
    (name) => [name, 'sign-in is one word of the field'] as const,
  ),
  ['mergeAllOf', 'allOf is a keyword of JSON Schema'],
  ['leaveWorkspace', 'as the button says'],
  ['leaveChannel', 'the opposite of join'],
  ['leave', 'the opposite of join'],
  ['mayHaveHappened', 'a state of the world, and no permission'],
]);

test('every name of a function, permission or file is one that a reader would guess', () => {
  const { files, findings } = findUnidiomaticNames(root);
  expectSources(files, { 'services/': 800, 'packages/': 1_200 });
  const problems = findings
    .filter(({ found }) => !EXCEPTIONS.has(found))
    .map(({ file, line, found, rule }) => `${file}:${line}: ${found} (${rule})`);
  expect(problems).toEqual([]);
});

test('each kind of name is found with its line, and words in strings and code are not comments', () => {
  const code = [
    'function trialsOf() {}',
    'const mayEdit = true;',
    'const sayProblem = () => 1;',
    '// Nobody may read it.',
    'const url = "https://example.com/anyone";',
    'interface Deps { reachIn(): void }',
    '/** What a run prints. */',
    '/** Whether it may: of a run. */',
    'export const x = <T,>(whoever: T) => whoever; /* for someone */',
    'const untilStored = () => 1;',
    'type Received = object;',
    'class BadUrl extends AppError {}',
  ];
  expect(checkSource('run-facts.ts', code.join('\n')).map(({ line, found, rule }) => [line, found, rule])).toEqual([
    [1, 'run-facts.ts', 'stem'],
    [1, 'trialsOf', 'preposition'],
    [2, 'mayEdit', 'permission'],
    [3, 'sayProblem', 'stem'],
    [6, 'reachIn', 'preposition'],
    [10, 'untilStored', 'preposition'],
    [11, 'Received', 'participle'],
    [12, 'BadUrl', 'error'],
    [4, 'Nobody', 'unnamed actor'],
    [7, 'What', 'no subject'],
    [9, 'someone', 'unnamed actor'],
  ]);
  expect(
    checkSource('page.tsx', '<p title="for someone">Nobody decides, anyone may</p>').map(({ found }) => found),
  ).toEqual(['someone', 'Nobody']);
});

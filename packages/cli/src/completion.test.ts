/** The printed scripts, in those of the shells that are installed on this machine. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir } from '@gantry/testing';
import { createCli } from './test/run-cli';

const SHELLS: Record<string, (script: string, words: string[]) => string[]> = {
  bash: (script, words) => [
    '-c',
    `source ${script}; COMP_WORDS=(${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length - 1}; _gantry; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // The line editor needs a terminal: its functions are replaced by ones that print what they get.
  zsh: (script, words) => [
    '-f',
    '-c',
    `compdef() { true }; compadd() { shift; print -l -- $@ }; _describe() { print -l -- "\${(@)\${(@P)2}%%:*}" }; _files() { true }
source ${script}; words=(${words.map((word) => `"${word}"`).join(' ')}); CURRENT=${words.length}; PREFIX=$words[-1]; _gantry`,
  ],
  fish: (script, words) => ['-c', `source ${script}; complete -C '${words.join(' ')}'`],
};

const isInstalled = (shell: string) => spawnSync(shell, ['--version']).status === 0;

describe.each(Object.keys(SHELLS).filter(isInstalled))('in %s', (shell) => {
  let script: string;

  beforeAll(async () => {
    script = path.join(createTemporaryDir('completion'), `gantry.${shell}`);
    writeFileSync(script, (await createCli().run(['completion', shell])).stdout);
  });

  test.each([
    ['commands', ['gantry', ''], ['login', 'runs', 'completion'], ['cancel']],
    ['subcommands, behind options', ['gantry', '--json', 'runs', ''], ['cancel', 'list'], ['login']],
    ['options, with those of all commands', ['gantry', 'runs', 'list', '--'], ['--status', '--json'], ['--host']],
    ['no further commands', ['gantry', 'secrets', 'set', ''], [], ['set', 'list', 'login']],
  ])('it completes %s', (_what, words, present, absent) => {
    const { stdout, stderr } = spawnSync(shell, SHELLS[shell]?.(script, words) ?? [], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const completed = stdout.split('\n').map((line) => line.split('\t')[0]);
    expect(completed).toEqual(expect.arrayContaining(present));
    for (const name of absent) expect(completed).not.toContain(name);
  });
});

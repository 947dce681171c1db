import type { Command } from 'commander';
import { type GantryCommand, withSession } from '../command';
import { usageError } from '../errors';
import type { GlobalOptions } from '../session';
import { quoteForSh } from '../text';

export function registerCompletion(program: GantryCommand): void {
  program
    .command('completion')
    .description('Print a shell completion script')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText(
      'after',
      '\nbash:  source <(gantry completion bash)\nzsh:   source <(gantry completion zsh)\nfish:  gantry completion fish | source',
    )
    .action(
      withSession<[string], GlobalOptions>(async (_session, shell) => {
        const format = FORMATS.get(shell);
        if (!format) throw usageError(`unsupported shell ${shell}`, `Shells: ${[...FORMATS.keys()].join(', ')}`);
        process.stdout.write(format(listCompletions(program, [])));
      }),
    );
}

/** Lists the subcommands and options that may follow a command. */
interface CommandCompletions {
  /** Names of commands, such as `workspace list`; empty for the program. */
  path: string;
  commands: { name: string; description: string }[];
  options: string[];
}

function listCompletions(command: Command, names: string[]): CommandCompletions[] {
  const commands = command.commands.map((one) => ({ name: one.name(), description: one.description() }));
  const options = command.options.flatMap(({ long }) => long ?? []);
  const below = command.commands.flatMap((one) => listCompletions(one, [...names, one.name()]));
  return [{ path: names.join(' '), commands, options: [...options, '--help'] }, ...below];
}

const listGlobalOptions = (words: CommandCompletions[]): string[] => words[0]?.options ?? [];

/** Formats the lines that bash and zsh share, which look up the command. @param typedWords expression of the shell */
function formatRouteCases(words: CommandCompletions[], typedWords: string, cases: string[]): string {
  const paths = words.filter(({ path }) => path).map(({ path }) => `"${path}"`);
  return `  for word in "\${${typedWords}}"; do
    case "\${route:+$route }$word" in
      ${paths.join('|')}) route="\${route:+$route }$word" ;;
    esac
  done
  case "$route" in
${cases.join('\n')}
  esac`;
}

function formatBash(words: CommandCompletions[]): string {
  const cases = words.map(({ path, commands, options }) => {
    const all = [...commands.map(({ name }) => name), ...new Set([...options, ...listGlobalOptions(words)])];
    return `    "${path}") words="${all.join(' ')}" ;;`;
  });
  return `_gantry() {
  local current="\${COMP_WORDS[COMP_CWORD]}" route="" words="" word
${formatRouteCases(words, 'COMP_WORDS[@]:1:COMP_CWORD-1', cases)}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _gantry gantry
`;
}

/** `path` and `words` are variables of the shell itself in zsh. */
function formatZsh(words: CommandCompletions[]): string {
  const cases = words.map(({ path, commands, options }) => {
    const described = commands.map(({ name, description }) => quoteForSh(`${name}:${description}`));
    const all = [...new Set([...options, ...listGlobalOptions(words)])];
    return `    "${path}") commands=(${described.join(' ')}); options=(${all.join(' ')}) ;;`;
  });
  return `#compdef gantry
_gantry() {
  local route="" word
  local -a commands options
${formatRouteCases(words, '(@)words[2,CURRENT-1]', cases)}
  if [[ "$PREFIX" == -* ]]; then
    compadd -- $options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}
(( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit; }
compdef _gantry gantry
`;
}

function formatFish(words: CommandCompletions[]): string {
  const lines = words.flatMap(({ path, commands, options }) => {
    const seen = path.split(' ').map((name) => `__fish_seen_subcommand_from ${name}`);
    const names = commands.map(({ name }) => name).join(' ');
    const next = path ? [...seen, `not __fish_seen_subcommand_from ${names}`] : ['__fish_use_subcommand'];
    const quoteForFish = (value: string) => `'${value.replace(/[\\']/g, '\\$&')}'`;
    // Options of the program follow any command.
    const place = path ? ` -n '${seen.join('; and ')}'` : '';
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c gantry -f -n '${next.join('; and ')}' -a ${name} -d ${quoteForFish(description)}`,
      ),
      ...options.map((option) => `complete -c gantry${place} -l ${option.slice(2)}`),
    ];
  });
  return `${lines.join('\n')}\n`;
}

const FORMATS = new Map([
  ['bash', formatBash],
  ['zsh', formatZsh],
  ['fish', formatFish],
]);

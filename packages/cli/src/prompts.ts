/** Questions, on a terminal only. They are written to stderr, so that stdout holds data alone. */
import { cancelledError, usageError } from './errors';
import { escapeControls } from './text';

export interface Prompts {
  isInteractive: boolean;
  /** @throws CommandError where nothing can be asked and `--yes` is not given, or where it is declined */
  confirm(message: string): Promise<void>;
  select<Value extends string>(message: string, choices: { value: Value; label: string }[]): Promise<Value>;
  text(message: string): Promise<string>;
  password(message: string): Promise<string>;
}

export function createPrompts({ yes, input }: { yes?: boolean; input?: boolean }): Prompts {
  const isInteractive =
    input !== false && !process.env.CI && process.stdin.isTTY === true && process.stderr.isTTY === true;

  /** @throws CommandError where the person leaves the prompt */
  async function promptOrFail<Value>(
    nonInteractiveHint: string,
    show: (clack: typeof import('@clack/prompts')) => Promise<Value | symbol>,
  ): Promise<Value> {
    if (!isInteractive) throw usageError(nonInteractiveHint);
    const clack = await import('@clack/prompts');
    const value = await show(clack);
    if (clack.isCancel(value)) throw cancelledError();
    return value as Value;
  }
  const output = process.stderr;

  return {
    isInteractive,
    async confirm(message) {
      if (yes) return;
      const isConfirmed = await promptOrFail<boolean>(`${message} To confirm, use --yes`, (clack) =>
        clack.confirm({ message: escapeControls(message), initialValue: false, output }),
      );
      if (!isConfirmed) throw cancelledError();
    },
    select: (message, choices) =>
      promptOrFail(`${message} Cannot prompt in non-interactive mode`, (clack) => {
        const options = choices.map(({ value, label }) => ({ value: value as string, label: escapeControls(label) }));
        return clack.select({ message: escapeControls(message), options, output }) as Promise<never>;
      }),
    text: (message) =>
      promptOrFail<string>(`${message} Cannot prompt in non-interactive mode`, (clack) =>
        clack.text({ message: escapeControls(message), output }),
      ),
    password: (message) =>
      promptOrFail<string>(`${message} Cannot prompt in non-interactive mode; pass it on stdin`, (clack) =>
        clack.password({ message: escapeControls(message), output }),
      ),
  };
}

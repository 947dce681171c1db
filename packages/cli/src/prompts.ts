/** Questions, on a terminal only. They are written to stderr, so that stdout holds data alone. */
import { cancelledError, usageError } from './errors';
import { escapeControls } from './text';

export function createPrompts({ yes, input }: { yes?: boolean; input?: boolean }) {
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
    /** @throws CommandError where nothing can be asked and `--yes` is not given, or where it is declined */
    async confirm(message: string) {
      if (yes) return;
      const isConfirmed = await promptOrFail<boolean>(`${message} To confirm, use --yes`, (clack) =>
        clack.confirm({ message: escapeControls(message), initialValue: false, output }),
      );
      if (!isConfirmed) throw cancelledError();
    },
    select: <Value extends string>(message: string, choices: { value: Value; label: string }[]) =>
      promptOrFail<Value>(`${message} Cannot prompt in non-interactive mode`, (clack) => {
        const options = choices.map(({ value, label }) => ({ value: value as string, label: escapeControls(label) }));
        return clack.select({ message: escapeControls(message), options, output }) as Promise<never>;
      }),
    text: (message: string) =>
      promptOrFail<string>(`${message} Cannot prompt in non-interactive mode`, (clack) =>
        clack.text({ message: escapeControls(message), output }),
      ),
    password: (message: string) =>
      promptOrFail<string>(`${message} Cannot prompt in non-interactive mode; pass it on stdin`, (clack) =>
        clack.password({ message: escapeControls(message), output }),
      ),
  };
}

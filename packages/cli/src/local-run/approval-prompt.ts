/** Approvals that the person at this terminal decides. */
import os from 'node:os';
import { CommandError, EXIT } from '../errors';
import { parseInputValue } from '../inputs';
import type { Session } from '../session';
import { bold, joinLines, text, yellow } from '../text';
import type { ApprovalRequest, Decision, LocalResponder } from './local-run';

export const createApprovalPrompt = (session: Session): LocalResponder => ({
  async decide(request) {
    const by = os.userInfo().username;
    const { output, prompts, options } = session;
    output.note(formatRequest(request));
    if (options.yes) return { approved: true, by, data: {} };
    if (!prompts.isInteractive) {
      throw new CommandError(
        `"${request.title}" needs approval, but there is no terminal`,
        EXIT.usage,
        'To approve everything, use --yes',
      );
    }
    const choice = await prompts.select('Approve?', [
      { value: 'approve', label: 'Approve' },
      { value: 'reject', label: 'Reject and end the run' },
    ]);
    if (choice === 'reject') return { approved: false, by, data: {} };
    return { approved: true, by, data: await fillForm(session, request.form) };
  },
});

const formatRequest = ({ title, message, data }: ApprovalRequest) =>
  joinLines([
    text`${yellow('waiting for approval:')} ${bold(title)}`,
    ...(message ? [message] : []),
    ...(data === null || data === undefined ? [] : [JSON.stringify(data, null, 2)]),
  ]);

async function fillForm({ prompts }: Session, form: unknown[] | null): Promise<Decision['data']> {
  const data: Decision['data'] = {};
  for (const item of form ?? []) {
    const { name, label, type = 'text' } = (typeof item === 'string' ? { name: item } : item) as Record<string, string>;
    if (name === undefined) continue;
    const value = await prompts.text(`${label ?? name}:`);
    if (value) data[name] = parseInputValue({ type: type as 'text' }, value);
  }
  return data;
}

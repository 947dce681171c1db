import { paginate, unwrap } from '@gantry/sdk';
import { collectItems } from '../collect-items';
import { type GantryCommand, withSession } from '../command';
import { usageError } from '../errors';
import { readInput } from '../input-data';
import { printTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { text } from '../text';
import { formatTime } from '../time';

interface ListOptions extends GlobalOptions {
  all?: boolean;
}

interface DecisionOptions extends GlobalOptions {
  reason?: string;
  data?: string;
}

export function registerApprovals(program: GantryCommand): void {
  const approvals = program.command('approvals').description('List and decide on approvals');
  approvals
    .command('list')
    .description('List pending approvals')
    .option('--all', 'Include decided approvals')
    .action(withSession<[], ListOptions>(listApprovals));
  for (const decision of ['approve', 'reject'] as const) {
    approvals
      .command(decision)
      .description(decision === 'approve' ? 'Approve and continue the run' : 'Reject and end the run')
      .argument('<approval>', 'Approval ID, or the ID of the waiting run')
      .option('-r, --reason <text>', 'Reason, shown to readers of the run')
      .option('-d, --data <json>', 'Form values as JSON; @file reads a file')
      .action(
        withSession<[string], DecisionOptions>((session, id, options) =>
          decideApproval(session, decision, id, options),
        ),
      );
  }
}

async function listApprovals({ output, gantry }: Session, { all }: ListOptions): Promise<void> {
  const query = { limit: 200, ...(!all && { status: 'pending' as const }) };
  const approvals = await collectItems(paginate(gantry().worker, '/api/approvals', { params: { query } }));
  printTable(output, approvals, ['id', 'worker', 'status', 'requested', 'expires', 'title'], (one) => [
    ...[one.id, one.worker_id, one.status],
    ...[formatTime(one.requested_at), formatTime(one.expires_at), one.title],
  ]);
}

async function decideApproval(
  session: Session,
  decision: 'approve' | 'reject',
  id: string,
  { reason, data }: DecisionOptions,
): Promise<void> {
  const { worker } = session.gantry();
  const body = {
    ...(reason !== undefined && { reason }),
    ...(data !== undefined && { data: parseForm((await readInput(data)).toString()) }),
  };
  const isRun = id.startsWith('run_');
  const decided = await unwrap(
    isRun
      ? worker.POST(`/api/runs/{run_id}/${decision}`, { params: { path: { run_id: id } }, body })
      : worker.POST(`/api/approvals/{approval_id}/${decision}`, { params: { path: { approval_id: id } }, body }),
  );
  session.output.print(decided, () => text`${decided.status}: ${decided.title} (${decided.run_id})`);
}

function parseForm(value: string): Record<string, unknown> {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw usageError(`-d: invalid JSON: ${(error as Error).message}`);
  }
}

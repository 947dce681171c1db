import { paginate, unwrap, type WorkerSchemas } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { usageError } from '../errors';
import { readInput } from '../input-data';
import { formatTable } from '../output';
import type { GlobalOptions, Session } from '../session';
import { text } from '../text';
import { formatTime } from '../time';

type Approval = WorkerSchemas['Approval'];

interface ListOptions extends GlobalOptions {
  all?: boolean;
}

interface DecisionOptions extends GlobalOptions {
  reason?: string;
  data?: string;
}

export function registerApprovals(program: GantryCommand): void {
  const approvals = program.command('approvals').description('List what waits for a decision, and decide.');
  approvals
    .command('list')
    .description('List approvals that are pending.')
    .option('--all', 'Decided ones too')
    .action(withSession<[], ListOptions>(listApprovals));
  for (const decision of ['approve', 'reject'] as const) {
    approvals
      .command(decision)
      .description(decision === 'approve' ? 'Approve; the run goes on.' : 'Reject; the run ends.')
      .argument('<approval>', 'Its id, or that of the run that waits')
      .option('-r, --reason <text>', 'Shown to readers of the run')
      .option('-d, --data <json>', 'What the form asks for; @file reads it')
      .action(
        withSession<[string], DecisionOptions>((session, id, options) =>
          decideApproval(session, decision, id, options),
        ),
      );
  }
}

async function listApprovals({ output, gantry }: Session, { all }: ListOptions): Promise<void> {
  const query = { limit: 200, ...(!all && { status: 'pending' as const }) };
  const approvals: Approval[] = [];
  for await (const one of paginate(gantry().worker, '/api/approvals', { params: { query } })) approvals.push(one);
  output.print(approvals, () =>
    formatTable(
      ['id', 'worker', 'status', 'requested', 'expires', 'title'],
      approvals.map((one) => [
        ...[one.id, one.worker_id, one.status],
        ...[formatTime(one.requested_at), formatTime(one.expires_at), one.title],
      ]),
    ),
  );
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
    throw usageError(`-d: this is not JSON: ${(error as Error).message}`);
  }
}

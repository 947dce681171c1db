import { openBrowser } from '../browser';
import { type GantryCommand, withSession } from '../command';
import type { GlobalOptions, Session } from '../session';
import { toText } from '../text';

export function registerOpen(program: GantryCommand): void {
  program
    .command('open')
    .description('Open a worker, a run or the overview in the browser')
    .argument('[id]', 'Worker, run or approval ID')
    .action(withSession<[string | undefined], GlobalOptions>(openPage));
}

async function openPage(session: Session, id: string | undefined): Promise<void> {
  const { dashboardUrl } = await session.connectAll();
  const url = `${dashboardUrl}${getPagePath(id)}`;
  session.output.print({ url }, () => toText(url));
  if (session.prompts.isInteractive) openBrowser(url);
}

function getPagePath(id: string | undefined): string {
  if (id === undefined) return '/';
  const name = encodeURIComponent(id);
  if (id.startsWith('run_')) return `/runs/${name}`;
  return id.startsWith('apr_') ? `/approvals?approval=${name}` : `/workers/${name}`;
}

/** Shortens and links results of tools for storage. */
import { toWellFormed } from '../conversation/well-formed';
import type { CallContent } from './turn-repository';

const RESULT_CHARS_MAX = 16_000;

/** @returns text that a text column can store */
export function toStoredResult(text: string): string {
  const clean = toWellFormed(text.replaceAll('\0', ''));
  if (clean.length <= RESULT_CHARS_MAX) return clean;
  return `${toWellFormed(clean.slice(0, RESULT_CHARS_MAX))}\n(truncated; ${clean.length} characters in total)`;
}

/** Pages of the dashboard: the field that names one, and the tools whose result has it. */
const DASHBOARD_PAGES = [
  { path: '/workers/', field: 'id', tools: ['create_worker', 'get_worker', 'update_worker', 'set_worker_state'] },
  { path: '/workers/', field: 'worker_id', tools: ['update_worker_files'] },
  { path: '/runs/', field: 'id', tools: ['run_worker', 'send_message', 'get_run'] },
  { path: '/runs/', field: 'run_id', tools: ['repair_run', 'replay_run', 'cancel_run'] },
  { path: '/a/', field: 'id', tools: ['deploy_automation'] },
  { path: '/skills/', field: 'slug', tools: ['get_skill', 'publish_skill'] },
];

/**
 * Lists links to continue at: a page of the dashboard, or of a service that asks for consent.
 * @param structured the tool's result; the arguments alone may also name a page
 */
export function listLinks(
  dashboardUrl: string,
  { name, workerId, arguments: callArguments }: Pick<CallContent, 'name' | 'workerId' | 'arguments'>,
  structured: Record<string, unknown> | undefined,
): string[] {
  const consent = name === 'connect_app' ? structured?.authorization_url : undefined;
  if (typeof consent === 'string') return [consent];
  const pageTool = workerId === null ? name : 'run_worker';
  // Bounded: the pages above.
  const page = DASHBOARD_PAGES.find(({ tools }) => tools.includes(pageTool));
  const id = page && (structured?.[page.field] ?? callArguments[page.field]);
  return page && typeof id === 'string' && id !== '' ? [`${dashboardUrl}${page.path}${encodeURIComponent(id)}`] : [];
}

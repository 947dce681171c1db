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

/** Pages of the dashboard, by the tool whose result refers to them. */
const DASHBOARD_PAGES: Record<string, { path: string; field: string }> = {
  create_worker: { path: '/workers/', field: 'id' },
  get_worker: { path: '/workers/', field: 'id' },
  update_worker: { path: '/workers/', field: 'id' },
  set_worker_state: { path: '/workers/', field: 'id' },
  update_worker_files: { path: '/workers/', field: 'worker_id' },
  run_worker: { path: '/runs/', field: 'id' },
  send_message: { path: '/runs/', field: 'id' },
  get_run: { path: '/runs/', field: 'id' },
  repair_run: { path: '/runs/', field: 'run_id' },
  replay_run: { path: '/runs/', field: 'run_id' },
  cancel_run: { path: '/runs/', field: 'run_id' },
  deploy_automation: { path: '/a/', field: 'id' },
  get_skill: { path: '/skills/', field: 'slug' },
  publish_skill: { path: '/skills/', field: 'slug' },
};

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
  const page = new Map(Object.entries(DASHBOARD_PAGES)).get(workerId === null ? name : 'run_worker');
  const id = page && (structured?.[page.field] ?? callArguments[page.field]);
  return page && typeof id === 'string' && id !== '' ? [`${dashboardUrl}${page.path}${encodeURIComponent(id)}`] : [];
}

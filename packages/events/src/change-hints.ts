/**
 * Sends hints that a resource in a workspace has changed: live pages refetch it (ADR 36).
 *
 * A hint names the kind of resource, and its id where ids are random; never a name or content. Hints are added after
 * the commit, collected for COLLECT_MS and sent as one message by each process, however many runs began or ended
 * meanwhile. They may be lost: when a process ends, or while NATS is unreachable. A process that starts or reconnects
 * to NATS reports that hints may have been lost, and pages refetch everything.
 */
import { afterCommit, getPool, type Tx } from '@gantry/postgres';
import type { Pool } from 'pg';
import { z } from 'zod';
import { type Bus, encode, publishIfOpen } from './bus';
import type { Service } from './catalogue';

export type ChangeNoun =
  | 'workers'
  | 'runs'
  | 'approvals'
  | 'contexts'
  | 'secrets'
  | 'connections'
  | 'models'
  | 'alerts'
  | 'skills'
  | 'automations'
  | 'members'
  | 'tokens'
  | 'workspaces'
  | 'audit';

/** Service -> every replica of worker-api: `changeHints`. */
export const buildChangesSubject = (service: Service | '*'): string => `changes.${service}`;

/** Nouns are strings, because a later release may add others. */
const changeHint = z.tuple([z.string().max(64), z.string().max(32), z.string().max(64).nullable()]);
/** Workspace, noun, id; null: any of them. */
type ChangeHint = [workspaceId: string, noun: ChangeNoun, id: string | null];

export const changeHints = z.object({
  /** Earlier hints of this process may not have arrived. */
  lost: z.boolean().optional(),
  changes: z.array(changeHint),
});

const COLLECT_MS = 100;
/** Hints per message. Below MESSAGE_BYTES_MAX, also with the longest ids. */
const HINTS_MAX = 1_000;

type AddHint = (hint: ChangeHint) => void;

/** Maps each database of this process to its collector. */
const collectors = new WeakMap<Pool, AddHint>();

/** Adds a hint after the commit; does nothing where no collector was started. @param id only where ids are random */
export function addChangeHint(tx: Tx, workspaceId: string, noun: ChangeNoun, id: string | null = null): void {
  const addHint = collectors.get(getPool(tx));
  if (addHint) afterCommit(tx, () => addHint([workspaceId, noun, id]));
}

export function startChangeHintPublisher({ pool, bus, service }: { pool: Pool; bus: Bus; service: Service }) {
  let pendingHints = new Map<string, ChangeHint>();
  let timer: NodeJS.Timeout | undefined;

  function send(hintsLost?: boolean) {
    clearTimeout(timer);
    timer = undefined;
    const changes = [...pendingHints.values()];
    pendingHints = new Map();
    if (!(changes.length || hintsLost)) return;
    const hints: z.input<typeof changeHints> = { changes, ...(hintsLost && { lost: hintsLost }) };
    publishIfOpen(bus, buildChangesSubject(service), encode(hints));
  }

  function addHint(hint: ChangeHint) {
    pendingHints.set(hint.join(), hint);
    if (pendingHints.size >= HINTS_MAX) send();
    else timer ??= setTimeout(send, COLLECT_MS);
  }

  void (async () => {
    for await (const { type } of bus.nc.status()) if (type === 'reconnect') send(true);
  })();
  collectors.set(pool, addHint);
  send(true);
  return {
    stop: () => {
      collectors.delete(pool);
      send();
    },
  };
}

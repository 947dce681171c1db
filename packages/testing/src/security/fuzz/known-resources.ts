/** Ids that exist, so that requests reach more than "unknown": by surface and kind, known from the start or learnt from answers. */
import type { FuzzedOperation } from './openapi';
import type { Random } from './random';

export interface KnownResources {
  /** The id or name for a field of this operation, or undefined where it names nothing that we know. */
  pick(operation: FuzzedOperation, field: string, random: Random): string | undefined;
  learn(surface: string, body: Buffer): void;
}

export interface KnownResourcesOptions {
  /** `worker run` -> ids. A kind of all surfaces is written without one. */
  ids: Record<string, string[]>;
  /** Never handed out, although answers name them: what the requests themselves are sent with. */
  keep: Set<string>;
  /** Fields of an operation whose kind is not that of their name. */
  findKind(operation: FuzzedOperation, field: string): string | undefined;
}

/** Kinds whose ids tell them. */
const PREFIXES: Record<string, string> = {
  run: 'run',
  art: 'artifact',
  ws: 'throwaway',
  usr: 'user',
  tok: 'token',
  apr: 'approval',
  alrt: 'alert',
  inv: 'invitation',
  ssn: 'session',
  dlv: 'delivery',
  key: 'apiKey',
  aut: 'doomedAutomation',
};
const ID = /"([a-z]{2,4})_([\w-]{21})"/g;
const LEARNED_IDS_MAX = 200;
const READ_BYTES_MAX = 64 << 10;

export function createKnownResources({ ids, keep, findKind: kindOf }: KnownResourcesOptions): KnownResources {
  const learnt = new Map<string, string[]>();
  return {
    pick: (operation, field, random) => {
      const kind = kindOf(operation, field);
      // One draw whatever there is: what was learnt must not change what comes after.
      const at = random.next();
      if (!kind) return undefined;
      const key = `${operation.surface} ${kind}`;
      const known = ids[key] ?? ids[kind] ?? [];
      const all = [...known, ...known, ...(learnt.get(key) ?? [])];
      return all[Math.floor(at * all.length)];
    },
    learn: (surface, body) => {
      if (body.length > READ_BYTES_MAX) return;
      for (const [quoted, prefix = ''] of body.toString().matchAll(ID)) {
        const kind = PREFIXES[prefix];
        const id = quoted.slice(1, -1);
        if (!kind || keep.has(id)) continue;
        const list = learnt.get(`${surface} ${kind}`) ?? [];
        learnt.set(`${surface} ${kind}`, list);
        if (list.includes(id)) continue;
        list.push(id);
        if (list.length > LEARNED_IDS_MAX) list.shift();
      }
    },
  };
}

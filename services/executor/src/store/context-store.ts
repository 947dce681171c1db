import { createHash } from 'node:crypto';
import type { JobContext } from '@gantry/events';
import { unpackZip } from '../untrusted/unpack-zip';
import type { DirectoryStore } from './directory-store';
import { fetchZip } from './fetch-zip';

export type ContextStore = ReturnType<typeof createContextStore>;

/** Differs from the zip's own digest: code of the same bytes is stored there with its byte code, which does not belong to the context. */
export const storedAs = ({ digest }: Pick<JobContext, 'digest'>) =>
  createHash('sha256').update(`context\n${digest}`).digest('hex');

export function createContextStore({ store }: { store: DirectoryStore }) {
  return {
    /** Unpacks the files into the store, under the name given by `storedAs`. */
    pin: (context: JobContext): void | Promise<void> =>
      store.pin(storedAs(context), async (directory) => {
        await unpackZip(await fetchZip(context, `the context ${context.name}`), directory);
      }),
    unpin: (context: JobContext) => store.unpin(storedAs(context)),
  };
}

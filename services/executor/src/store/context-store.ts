import { createHash } from 'node:crypto';
import type { JobContext } from '@gantry/events';
import { unpackZip } from '../untrusted/unpack-zip';
import type { DirectoryStore } from './directory-store';
import { fetchZip } from './fetch-zip';

export type ContextStore = ReturnType<typeof createContextStore>;

/** Returns a key other than the zip's digest, under which code of the same bytes would be stored with its byte code. */
export const toStoreKey = ({ digest }: Pick<JobContext, 'digest'>) =>
  createHash('sha256').update(`context\n${digest}`).digest('hex');

export function createContextStore({ store }: { store: DirectoryStore }) {
  return {
    /** Unpacks the files into the store, under the key of `toStoreKey`. */
    pin: (context: JobContext): void | Promise<void> =>
      store.pin(toStoreKey(context), async (directory) => {
        await unpackZip(await fetchZip(context, `the context ${context.name}`), directory);
      }),
    unpin: (context: JobContext) => store.unpin(toStoreKey(context)),
  };
}

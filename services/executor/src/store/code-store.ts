import type { Job } from '@gantry/events';
import { unpackZip } from '../untrusted/unpack-zip';
import type { DirectoryStore } from './directory-store';
import { fetchZip } from './fetch-zip';

/** A version of code: a zip named by its SHA-256. */
export type CodeReference = Job['code'];

export type CodeStore = ReturnType<typeof createCodeStore>;

export function createCodeStore({
  store,
  finish,
}: {
  store: DirectoryStore;
  /** Applied once to unpacked code, before anything runs it. */
  finish(directory: string): Promise<void>;
}) {
  return {
    /** Provides the code, unpacked and finished, at `<store>/<digest>`. Synchronous if it is already there. */
    pin: (code: CodeReference): void | Promise<void> =>
      store.pin(code.digest, async (directory) => {
        await unpackZip(await fetchZip(code, 'the code'), directory);
        await finish(directory);
      }),
    unpin: (code: CodeReference) => store.unpin(code.digest),
  };
}

import type { Job } from '@gantry/events';
import { unpackZip } from '../untrusted/unpack-zip';
import type { DirectoryStore } from './directory-store';
import { fetchZip } from './fetch-zip';

/** A version of code as a zip whose SHA-256 is its name. */
export type CodeReference = Job['code'];

export interface CodeStore {
  /** Has the code unpacked, and finished, at `<store>/<digest>`. Nothing to wait for when it is there already. */
  pin(code: CodeReference): void | Promise<void>;
  unpin(code: CodeReference): void;
}

export function createCodeStore({
  store,
  finish,
}: {
  store: DirectoryStore;
  /** Done once to unpacked code, before anything runs it. */
  finish(directory: string): Promise<void>;
}): CodeStore {
  return {
    pin: (code) =>
      store.pin(code.digest, async (directory) => {
        await unpackZip(await fetchZip(code, 'the code'), directory);
        await finish(directory);
      }),
    unpin: (code) => store.unpin(code.digest),
  };
}

import type { Writable } from 'node:stream';

/** Resolves when a stream accepts more data, or is closed. */
export function waitForDrain(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      stream.off('drain', finish).off('close', finish);
      resolve();
    };
    stream.on('drain', finish).on('close', finish);
  });
}

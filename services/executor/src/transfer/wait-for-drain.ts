import type { Writable } from 'node:stream';

/** Waits until a stream can accept more data, or is closed. */
export function waitForDrain(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle).off('close', settle);
      resolve();
    };
    stream.on('drain', settle).on('close', settle);
  });
}

import type { Readable } from 'node:stream';

/** Collects what a process writes. @returns a function that gives all of it so far */
export function collectOutput({ stdout, stderr }: Record<'stdout' | 'stderr', Readable | null>): () => string {
  let output = '';
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  return () => output;
}

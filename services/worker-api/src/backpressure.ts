import type { Response } from 'express';

/** Waits for a slow reader, so that what it is sent does not gather in memory. */
export async function written(res: Response, text: string): Promise<void> {
  if (!text || res.write(text)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.once('drain', done).once('close', done);
  });
}

/** Batches the text of a model, which arrives word by word, into a few writes each second. */
const EVERY_MS = 200;

export function createTextWriter(write: (text: string) => Promise<unknown>, failed: (err: unknown) => void) {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  const flush = () => {
    timer = undefined;
    const text = waiting;
    waiting = '';
    if (text) underWay = underWay.then(() => write(text)).catch(failed);
  };
  return {
    add(text: string): void {
      waiting += text;
      timer ??= setTimeout(flush, EVERY_MS);
    },
    /** Resolves when everything is stored. */
    async end(): Promise<void> {
      clearTimeout(timer);
      flush();
      await underWay;
    },
  };
}

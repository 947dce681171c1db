/** Batches the text of a model, which arrives word by word, into a few writes each second. */
const FLUSH_INTERVAL_MS = 200;

export function createTextWriter(write: (text: string) => Promise<unknown>, onError: (err: unknown) => void) {
  let pendingText = '';
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  const flush = () => {
    timer = undefined;
    const text = pendingText;
    pendingText = '';
    if (text) writing = writing.then(() => write(text)).catch(onError);
  };
  return {
    add(text: string): void {
      pendingText += text;
      timer ??= setTimeout(flush, FLUSH_INTERVAL_MS);
    },
    /** Resolves when everything is stored. */
    async end(): Promise<void> {
      clearTimeout(timer);
      flush();
      await writing;
    },
  };
}

/**
 * A stream of pieces as they come. Those that Node makes of iterables and readables throw where nothing catches it, if
 * a piece arrives just as their reader leaves.
 * @param cancel ends the source, also while a piece is waited for
 */
export function toWebStream(chunks: AsyncIterable<Uint8Array>, cancel: () => unknown): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let isOver = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next().catch((err) => {
        if (!isOver) throw err;
      });
      if (isOver || !next) return;
      isOver = next.done === true;
      if (isOver) controller.close();
      else controller.enqueue(next.value);
    },
    cancel() {
      isOver = true;
      cancel();
    },
  });
}

/** Collects the items of a list that comes page by page: the first `itemsMax` of them. */
export async function collectItems<Item>(
  items: AsyncIterable<Item>,
  itemsMax = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) {
    collected.push(item);
    if (collected.length >= itemsMax) break;
  }
  return collected;
}

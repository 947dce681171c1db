/** The maximum page size of the API. */
const PAGE_SIZE = 200;

/** Loads all pages of a list that is bounded, and therefore short. */
export async function loadAllPages<Item>(
  loadPage: (page: { limit: number; offset: number }) => Promise<Item[]>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await loadPage({ limit: PAGE_SIZE, offset: items.length });
    items.push(...page);
    if (page.length < PAGE_SIZE) return items;
  }
}

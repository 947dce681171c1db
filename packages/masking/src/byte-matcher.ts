/** Tables of a matcher, which threads transfer without a copy. */
export interface MatcherTables {
  firstChild: Int32Array;
  byteOf: Uint8Array;
  fail: Int32Array;
  root: Int32Array;
  depth: Int32Array;
  matched: Int32Array;
  owner: Int32Array;
}

/** Nodes with more children are searched by halves: a linear search would take what the strings decide. */
const CHILDREN_FEW = 8;

/**
 * Finds many byte strings at once in a stream (Aho-Corasick). Time is linear in the input for any input: the output of
 * a run must not determine how long the executor scans it.
 *
 * A node is a prefix of one or more strings. Nodes are numbered breadth first, so the children of a node, and those
 * of the next one, are contiguous: building is one pass through memory, a few nanoseconds per byte of the strings.
 * The root, where ordinary text spends nearly all its time, has an additional table.
 */
export class ByteMatcher implements MatcherTables {
  /** The children of node n are the nodes from firstChild[n] up to, but excluding, firstChild[n + 1]. */
  readonly firstChild: Int32Array;
  readonly byteOf: Uint8Array;
  /** The failure link: the node of the longest proper suffix of a node's prefix that is also a prefix. */
  readonly fail: Int32Array;
  readonly root: Int32Array;
  /** Length of a node's prefix: the number of trailing input bytes that could still become a match. */
  readonly depth: Int32Array;
  /** Length of the longest string that ends at a node; 0 without one. */
  readonly matched: Int32Array;
  /** Which string that is: its place among all in the order of their bytes. */
  readonly owner: Int32Array;

  /** @param source the strings, or what was built from them elsewhere */
  constructor(source: Uint8Array[] | MatcherTables) {
    if (!Array.isArray(source)) {
      ({
        firstChild: this.firstChild,
        byteOf: this.byteOf,
        fail: this.fail,
        root: this.root,
        depth: this.depth,
        matched: this.matched,
        owner: this.owner,
      } = source);
      return;
    }
    const sorted = [...source].sort(Buffer.compare);
    const size = 1 + sorted.reduce((sum, { length }) => sum + length, 0);
    this.firstChild = new Int32Array(size + 1);
    this.byteOf = new Uint8Array(size);
    this.fail = new Int32Array(size);
    this.root = new Int32Array(256);
    this.depth = new Int32Array(size);
    this.matched = new Int32Array(size);
    this.owner = new Int32Array(size);
    this.build(sorted);
  }

  /** The node after one more byte. */
  step(node: number, byte: number): number {
    const { firstChild, byteOf, fail } = this;
    for (let from = node; from !== 0; from = fail[from] as number) {
      let child = firstChild[from] as number;
      let end = firstChild[from + 1] as number;
      while (end - child > CHILDREN_FEW) {
        const middle = (child + end) >> 1;
        if ((byteOf[middle] as number) > byte) end = middle;
        else child = middle;
      }
      for (; child < end; child++) if (byteOf[child] === byte) return child;
    }
    return this.root[byte] as number;
  }

  /**
   * Level by level, from sorted strings: each starts a new node unless it shares its prefix with the previous
   * one. A failure link leads to a level that is already complete.
   */
  private build(strings: Uint8Array[]): void {
    const { firstChild, byteOf, fail, depth, matched, owner, root } = this;
    const shared = strings.map((string, i) => countCommonPrefix(strings[i - 1], string));
    /** Strings not yet exhausted, and the node that each has reached. */
    const active = Int32Array.from(strings.keys());
    const nodeOf = new Int32Array(strings.length);
    let count = strings.length;
    let used = 1;
    for (let length = 0, parent = 0; count > 0; length++) {
      const levelEnd = used;
      let left = 0;
      for (let k = 0; k < count; k++) {
        const i = active[k] as number;
        const string = strings[i] as Uint8Array;
        const node = nodeOf[i] as number;
        if (string.length === length) {
          matched[node] = length;
          owner[node] = i;
          continue;
        }
        active[left++] = i;
        if ((shared[i] as number) <= length) {
          while (parent <= node) firstChild[parent++] = used;
          const byte = string[length] as number;
          byteOf[used] = byte;
          depth[used] = length + 1;
          if (node === 0) root[byte] = used;
          else {
            const failure = this.step(fail[node] as number, byte);
            fail[used] = failure;
            matched[used] = matched[failure] as number;
            owner[used] = owner[failure] as number;
          }
          used++;
        }
        nodeOf[i] = used - 1;
      }
      while (parent < levelEnd) firstChild[parent++] = used;
      count = left;
    }
    firstChild.fill(used, used);
  }
}

function countCommonPrefix(before: Uint8Array | undefined, string: Uint8Array): number {
  const most = Math.min(before?.length ?? 0, string.length);
  let length = 0;
  while (length < most && before?.[length] === string[length]) length++;
  return length;
}

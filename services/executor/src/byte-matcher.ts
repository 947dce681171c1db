/**
 * Finds many byte strings at once in a stream (Aho-Corasick). Time is linear in the input whatever it is made of: what a
 * run prints must not decide how long the executor looks at it.
 *
 * A node is a prefix of one or more strings. Children hang off their parent as a linked list; only the root, where nearly
 * all of ordinary text stays, has a table.
 */
export class ByteMatcher {
  private readonly firstChild: Int32Array;
  private readonly nextSibling: Int32Array;
  private readonly byteOf: Uint8Array;
  private readonly fail: Int32Array;
  private readonly root = new Int32Array(256);
  /** Length of a node's prefix: how much of the input's end could still become a match. */
  readonly depth: Int32Array;
  /** Length of the longest string that ends at a node; 0 without one. */
  readonly matched: Int32Array;

  constructor(strings: Uint8Array[]) {
    const size = 1 + strings.reduce((sum, { length }) => sum + length, 0);
    this.firstChild = new Int32Array(size);
    this.nextSibling = new Int32Array(size);
    this.byteOf = new Uint8Array(size);
    this.fail = new Int32Array(size);
    this.depth = new Int32Array(size);
    this.matched = new Int32Array(size);
    let used = 1;
    for (const string of strings) {
      let node = 0;
      for (const byte of string) {
        let child = this.child(node, byte);
        if (child === 0) {
          child = used++;
          this.byteOf[child] = byte;
          this.depth[child] = (this.depth[node] as number) + 1;
          this.nextSibling[child] = this.firstChild[node] as number;
          this.firstChild[node] = child;
          if (node === 0) this.root[byte] = child;
        }
        node = child;
      }
      this.matched[node] = string.length;
    }
    this.linkFailures(used);
  }

  /** The node after one more byte. */
  step(node: number, byte: number): number {
    let from = node;
    while (from !== 0) {
      const child = this.child(from, byte);
      if (child !== 0) return child;
      from = this.fail[from] as number;
    }
    return this.root[byte] as number;
  }

  private child(node: number, byte: number): number {
    if (node === 0) return this.root[byte] as number;
    let child = this.firstChild[node] as number;
    while (child !== 0 && this.byteOf[child] !== byte) child = this.nextSibling[child] as number;
    return child;
  }

  /** Breadth first: a node's failure is the longest proper suffix of its prefix that is a prefix itself. */
  private linkFailures(used: number): void {
    const queue = new Int32Array(used);
    let tail = 0;
    for (let child = this.firstChild[0] as number; child; child = this.nextSibling[child] as number)
      queue[tail++] = child;
    for (let head = 0; head < tail; head++) {
      const node = queue[head] as number;
      const failure = this.fail[node] as number;
      if (this.matched[node] === 0) this.matched[node] = this.matched[failure] as number;
      for (let child = this.firstChild[node] as number; child; child = this.nextSibling[child] as number) {
        this.fail[child] = this.step(failure, this.byteOf[child] as number);
        queue[tail++] = child;
      }
    }
  }
}

/** Chance that can be had again: the same seed gives the same numbers. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  /** From 0 up to, but not including, `below`. */
  int(below: number): number;
  chance(probability: number): boolean;
  /** @throws Error of an empty list */
  pick<T>(from: readonly T[]): T;
  shuffled<T>(from: readonly T[]): T[];
}

/** Mulberry32: 32 bits of state are plenty for a request. `path` tells streams of one seed from each other. */
export function createRandom(seed: number, ...path: number[]): Random {
  let state = [seed, ...path].reduce((mixed, part) => Math.imul(mixed ^ part, 0x9e3779b1) + 0x6d2b79f5, 0x1b873593) | 0;

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (from) => {
      if (from.length === 0) throw new Error('nothing to pick from');
      return from[int(from.length)] as (typeof from)[number];
    },
    shuffled: (from) => {
      const list = [...from];
      for (let i = list.length - 1; i > 0; i--) {
        const j = int(i + 1);
        [list[i], list[j]] = [list[j], list[i]] as [(typeof list)[number], (typeof list)[number]];
      }
      return list;
    },
  };
}

/** A `hasher` for surfaces of tests whose requests hold nothing secret. */
export const plainHasher = {
  hash: (text: string) => ({ hash: Buffer.from(text) }),
  candidates: (text: string) => [Buffer.from(text)],
};

export type BadArchiveCode =
  /** Not a zip, or one with an unreadable central directory. */
  | 'unreadable'
  | 'too_many_entries'
  /** The unpacked size exceeds the reader's limit. */
  | 'too_large'
  /** A path that is not relative, portable and below the root. */
  | 'path'
  /** Two entries that are one file on some systems, or a path through a file. */
  | 'collision'
  /** A link, a device, or a directory with content. */
  | 'special_file'
  | 'encrypted'
  /** A method other than stored and DEFLATE, or a ratio that DEFLATE cannot reach. */
  | 'compression'
  /** The content differs from the entry's checksum or size. */
  | 'damaged';

/** A zip that must be rejected. The message may be shown to its author. */
export class BadArchiveError extends Error {
  /** The path as the archive spells it, where one entry is at fault. */
  readonly entry: string | undefined;

  constructor(
    readonly code: BadArchiveCode,
    message: string,
    { entry, cause }: { entry?: string; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.entry = entry;
  }
}

export type BadArchiveCode =
  /** No zip, or one whose directory of entries can't be read. */
  | 'unreadable'
  | 'too_many_entries'
  /** It unpacks to more than the reader allows. */
  | 'too_large'
  /** A path that is not relative, plain and below the root on every system. */
  | 'path'
  /** Two entries that are one file on some systems, or a path that leads through a file. */
  | 'collision'
  /** A link, a device, or a directory with content. */
  | 'special_file'
  | 'encrypted'
  /** A method other than stored and DEFLATE, or a ratio that DEFLATE can't reach. */
  | 'compression'
  /** The content has another checksum or size than the entry says. */
  | 'damaged';

/** A zip that must not be used. The message may be shown to its author. */
export class BadArchive extends Error {
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

/** Where packages come from, as pip's own variables say. */
export interface PackageIndex {
  indexUrl: string | null;
  extraIndexUrls: string[];
  findLinks: string[];
  /** Hosts beside those of the addresses above that files may be downloaded from. */
  fileHosts: string[];
}

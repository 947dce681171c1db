/** Kinds of previews of a file. */
export type PreviewKind = 'image' | 'csv' | 'markdown' | 'json' | 'text';

const PREVIEW_BYTES_MAX = 2_000_000;

interface FileInfo {
  name: string;
  contentType: string;
  size: number;
}

/** A file that a run created. */
export interface ArtifactFile extends FileInfo {
  id: string;
}

const EXTENSIONS: [PreviewKind, string[]][] = [
  ['csv', ['.csv']],
  ['markdown', ['.md', '.markdown']],
  ['json', ['.json']],
  ['text', ['.txt', '.log', '.py', '.yaml', '.yml', '.toml', '.xml', '.html', '.sql', '.ndjson']],
];

/** Only bitmaps are drawn as pictures: an SVG may hold a script. */
export const isBitmap = (type: string): boolean => /^image\/(png|jpeg|gif|webp)$/.test(type);

export function getPreviewKind({ name, contentType }: FileInfo): PreviewKind | null {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (isBitmap(type)) return 'image';
  if (type === 'text/csv') return 'csv';
  if (type === 'text/markdown') return 'markdown';
  if (type === 'application/json') return 'json';
  const lower = name.toLowerCase();
  const byExtension = EXTENSIONS.find(([, endings]) => endings.some((ending) => lower.endsWith(ending)));
  return byExtension?.[0] ?? (type.startsWith('text/') ? 'text' : null);
}

export const canPreview = (file: FileInfo): boolean => file.size <= PREVIEW_BYTES_MAX && getPreviewKind(file) !== null;

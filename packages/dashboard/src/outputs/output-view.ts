/**
 * Chooses the drawing of each output: by its declared type where the value fits it, else by the value itself. Code may
 * return anything, so a value that does not fit its type is shown as it is, never dropped.
 */
import type { OutputItem } from '../shell/api';
import type { LinkedArtifact } from './linked-artifact';
import { type TableData, toTable } from './table-data';

export type OutputView = { name: string; label: string } & (
  | { as: 'table'; table: TableData }
  | { as: 'csv' | 'markdown' | 'text'; text: string }
  | { as: 'number'; value: number }
  | { as: 'image'; url: string; artifact: LinkedArtifact | null }
  | { as: 'file'; artifact: LinkedArtifact }
  | { as: 'json'; value: unknown }
);

export function buildOutputViews(items: OutputItem[], outputs: Record<string, unknown>, artifacts: LinkedArtifact[]) {
  const declared = new Set(items.map(({ name }) => name));
  const extra: OutputItem[] = Object.keys(outputs)
    .filter((name) => !declared.has(name))
    .map((name) => ({ name }));
  const claimed = new Set<string>();
  const views: OutputView[] = [];
  for (const item of [...items, ...extra]) {
    const value = Object.hasOwn(outputs, item.name) ? outputs[item.name] : undefined;
    const artifact = findArtifact(item, value, artifacts);
    if (!Object.hasOwn(outputs, item.name) && !artifact) continue;
    const output = buildOutputView(item, declared.has(item.name), value, artifact);
    if ('artifact' in output && output.artifact) claimed.add(output.artifact.id);
    views.push(output);
  }
  return { drawn: views, unclaimed: artifacts.filter(({ id }) => !claimed.has(id)) };
}

function buildOutputView(
  item: OutputItem,
  declared: boolean,
  value: unknown,
  artifact: LinkedArtifact | undefined,
): OutputView {
  const base = { name: item.name, label: item.label ?? item.name };
  const type = declared ? (item.type ?? 'text') : inferType(value);
  if (type === 'image') {
    if (artifact) return { ...base, as: 'image', url: artifact.url, artifact };
    if (isImageData(value)) return { ...base, as: 'image', url: value, artifact: null };
  }
  if (type === 'file' && artifact) return { ...base, as: 'file', artifact };
  if (type === 'table') {
    const table = toTable(value);
    if (table) return { ...base, as: 'table', table };
  }
  if (type === 'number') {
    const number = typeof value === 'string' && value.trim() ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return { ...base, as: 'number', value: number };
  }
  if (typeof value === 'string') {
    return { ...base, as: type === 'csv' || type === 'markdown' ? type : 'text', text: value };
  }
  if (type === 'text' && (typeof value === 'number' || typeof value === 'boolean')) {
    return { ...base, as: 'text', text: String(value) };
  }
  return { ...base, as: 'json', value: value ?? null };
}

function inferType(value: unknown): NonNullable<OutputItem['type']> {
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string' || typeof value === 'boolean') return 'text';
  return Array.isArray(value) && value.length > 0 && toTable(value) ? 'table' : 'json';
}

/** Finds an artifact by id or file name, alone or in an object; else by the name of the output. */
function findArtifact(item: OutputItem, value: unknown, artifacts: LinkedArtifact[]): LinkedArtifact | undefined {
  if (item.type !== 'image' && item.type !== 'file') return undefined;
  const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const names = [value, object.artifact_id, object.artifactId, object.id, object.artifact, object.name];
  const isNamed = ({ id, name }: LinkedArtifact) => names.includes(id) || names.includes(name);
  return (
    artifacts.find(isNamed) ??
    artifacts.find(({ name }) => name === item.name || name.replace(/\.[^.]+$/, '') === item.name)
  );
}

/** Only bitmaps: in an `img` an SVG can't run scripts either, but a downloaded one could. */
const isImageData = (value: unknown): value is string =>
  typeof value === 'string' && /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/.test(value);

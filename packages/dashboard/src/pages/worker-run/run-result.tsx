import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { LinkedArtifact } from '../../outputs/linked-artifact';
import { OutputList } from '../../outputs/output-list';
import { isBitmap } from '../../runs/artifact-preview-kind';
import { downloadArtifact } from '../../runs/download-artifact';
import { MissingOutputNotice } from '../../runs/missing-output-notice';
import type { OutputItem, Worker, WorkerRun } from '../../shell/api';

/** The maximum size of files that outputs show inline; larger ones are listed among the files of the run. */
const INLINE_BYTES_MAX = 10_000_000;

/** Shows the outputs of a run, each by its type. */
export function RunResult({ run, worker }: { run: WorkerRun; worker: Worker | undefined }) {
  const items = (worker?.outputs ?? []) as OutputItem[];
  const hasFileOutputs = items.some(({ type }) => type === 'image' || type === 'file');
  const artifacts = useLinkedArtifacts(run, hasFileOutputs);
  // Until the artifacts are loaded, an image output would render as text.
  if (artifacts === null) return null;
  if (run.output_missing) return <MissingOutputNotice />;
  const outputNames = new Set(items.map(({ name }) => name));
  const referencedArtifacts = artifacts.filter((artifact) => isReferenced(artifact, run.output ?? {}, outputNames));
  return <OutputList items={items} outputs={run.output ?? {}} artifacts={referencedArtifacts} />;
}

/** Returns whether an output names the file, or has its name. */
const isReferenced = ({ id, name }: LinkedArtifact, output: Record<string, unknown>, items: Set<string>): boolean => {
  const texts = JSON.stringify(output);
  return (
    texts.includes(JSON.stringify(id)) || texts.includes(JSON.stringify(name)) || items.has(name.split('.')[0] ?? '')
  );
};

/** Makes a blob inert: its URL opened in a tab is a document of this origin, so HTML of a worker must not render. */
const toInertBlob = (blob: Blob): Blob =>
  isBitmap(blob.type) ? blob : blob.slice(0, blob.size, 'application/octet-stream');

/** Loads the files that outputs show; null while loading. */
function useLinkedArtifacts(run: WorkerRun, isEnabled: boolean): LinkedArtifact[] | null {
  const files = isEnabled ? run.artifacts.filter(({ size }) => size <= INLINE_BYTES_MAX) : [];
  const blobs = useQueries({
    queries: files.map(({ id }) => ({
      queryKey: ['artifact', id],
      queryFn: () => downloadArtifact(run.id, id),
      staleTime: Number.POSITIVE_INFINITY,
      retry: false,
    })),
    combine: (results) => (results.some(({ isPending }) => isPending) ? null : results.map(({ data }) => data)),
  });
  const [urls, setUrls] = useState<(string | undefined)[] | null>(null);
  useEffect(() => {
    if (blobs === null) return;
    const objectUrls = blobs.map((blob) => blob && URL.createObjectURL(toInertBlob(blob)));
    setUrls(objectUrls);
    return () => {
      for (const url of objectUrls) if (url) URL.revokeObjectURL(url);
    };
  }, [blobs]);
  if (files.length === 0) return [];
  if (urls === null) return null;
  return files.flatMap(({ content_type, ...file }, index) => {
    const url = urls[index];
    return url ? [{ ...file, contentType: content_type, url }] : [];
  });
}

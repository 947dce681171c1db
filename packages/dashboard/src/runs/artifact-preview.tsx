import { Box, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { parseCsv } from '../outputs/csv';
import { OutputJson } from '../outputs/output-json';
import { OutputTable } from '../outputs/output-table';
import { parseJson } from '../ui/json';
import { LoadErrorNotice } from '../ui/notice';
import { type ArtifactFile, getPreviewKind, type PreviewKind } from './artifact-preview-kind';

const OutputMarkdown = lazy(() => import('../outputs/output-markdown'));

export default function ArtifactPreview({ file, read }: { file: ArtifactFile; read: () => Promise<Blob> }) {
  const kind = getPreviewKind(file);
  // A file never changes, and has one id.
  const { data, error, refetch } = useQuery({
    queryKey: ['artifact-preview', file.id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const blob = await read();
      return kind === 'image' ? { blob, text: '' } : { blob: null, text: await blob.text() };
    },
  });
  if (error) return <LoadErrorNotice what={file.name} error={error} retry={refetch} />;
  if (!data || kind === null) return <Skeleton height={120} />;
  if (data.blob) return <ImagePreview blob={data.blob} name={file.name} />;
  return <Suspense fallback={<Skeleton height={120} />}>{renderPreview(kind, file.name, data.text)}</Suspense>;
}

function renderPreview(kind: PreviewKind, name: string, text: string): ReactNode {
  if (kind === 'csv') return <OutputTable name={name} label={name} table={parseCsv(text)} />;
  if (kind === 'markdown') return <OutputMarkdown text={text} />;
  const value = kind === 'json' ? parseJson(text) : undefined;
  if (value !== undefined) return <OutputJson value={value} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <pre className="code-box" tabIndex={0}>
      {text}
    </pre>
  );
}

function ImagePreview({ blob, name }: { blob: Blob; name: string }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const objectUrl = URL.createObjectURL(blob);
    setUrl(objectUrl);
    return () => URL.revokeObjectURL(objectUrl);
  }, [blob]);
  return url && <Box component="img" bd="1px solid var(--line)" bdrs={6} bg="#fff" src={url} alt={name} />;
}

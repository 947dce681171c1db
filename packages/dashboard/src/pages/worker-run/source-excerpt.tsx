import { Box } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { findLastFrame } from '../../code/code-problem';
import { api, type WorkerRun } from '../../shell/api';
import styles from './source-excerpt.module.css';

/** Shows the line that raised the error with its context; renders nothing if it can't be found. */
export function SourceExcerpt({ run }: { run: WorkerRun }) {
  const frame = findLastFrame(run.error_trace);
  const { data: content } = useQuery({
    queryKey: ['workers', run.workspace_id, run.worker_id, 'source', run.worker_version, frame?.file],
    enabled: frame !== null && run.worker_version !== null,
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: () => loadVersionFile(run.worker_id, run.worker_version as number, frame?.file ?? ''),
  });
  const lines = frame && content ? listLinesAround(content, frame.line) : [];
  if (!frame || lines.length === 0) return null;
  return (
    <Box component="figure" className={`${styles.source} surface`} bdrs={6} style={{ overflow: 'hidden' }}>
      <Box component="figcaption" p="4px 12px" fz="xs" c="dimmed" style={{ borderBottom: '1px solid var(--line)' }}>
        {frame.file}, line {frame.line}
      </Box>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>
        {lines.map(({ number, text }) => (
          <code key={number} data-failed={number === frame.line || undefined}>
            <Box
              component="span"
              display="inline-block"
              miw="3ch"
              me="sm"
              c="dimmed"
              ta="end"
              style={{ userSelect: 'none' }}
            >
              {number}
            </Box>
            {text}
            {'\n'}
          </code>
        ))}
      </pre>
    </Box>
  );
}

const CONTEXT_LINES = 4;

function listLinesAround(content: string, line: number): { number: number; text: string }[] {
  const lines = content.split('\n');
  if (line < 1 || line > lines.length) return [];
  const from = Math.max(0, line - 1 - CONTEXT_LINES);
  return lines.slice(from, line + CONTEXT_LINES).map((text, index) => ({ number: from + index + 1, text }));
}

const VERSIONS_MAX = 200;

/** Loads a file of a version; null if either no longer exists. */
async function loadVersionFile(workerId: string, version: number, path: string): Promise<string | null> {
  const worker = { worker_id: workerId };
  const versions = await api.worker.GET('/api/workers/{worker_id}/versions', {
    params: { path: worker, query: { limit: VERSIONS_MAX } },
  });
  const sha = versions.find((each) => each.version === version)?.sha;
  if (sha === undefined) return null;
  const files = await api.worker.GET('/api/workers/{worker_id}/files', {
    params: { path: worker, query: { version: sha } },
  });
  return files.find((file) => file.path === path)?.content ?? null;
}

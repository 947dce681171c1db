import { unwrap } from '@gantry/api-client';
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type WorkerRun, workerApi } from '../../shell/api';
import { fileSize } from '../../ui/format';
import { DownloadIcon } from '../../ui/icons';
import { ListItem } from '../../ui/list-item';
import { Failure } from '../../ui/notice';
import content from '../../ui/panel-content.module.css';
import { saveFile } from '../../ui/save-file';
import styles from './worker-run-page.module.css';

type Artifact = WorkerRun['artifacts'][number];

export function RunFiles({ run }: { run: WorkerRun }) {
  return (
    <section className={styles.files} aria-label="Files">
      <h3>Files</h3>
      <ul className={content.list}>
        {run.artifacts.map((artifact) => (
          <RunFile key={artifact.id} run={run} artifact={artifact} />
        ))}
      </ul>
    </section>
  );
}

/** The worker surface is another origin, which a plain link would reach without the session. */
function RunFile({ run, artifact }: { run: WorkerRun; artifact: Artifact }) {
  const download = useMutation({
    mutationFn: async () => {
      const worker = await workerApi();
      const params = { path: { run_id: run.id, artifact_id: artifact.id } };
      const file = worker.GET('/api/runs/{run_id}/artifacts/{artifact_id}/download', { params, parseAs: 'blob' });
      saveFile(artifact.name, await unwrap(file));
    },
  });
  return (
    <ListItem what={artifact.name} about={fileSize(artifact.size)}>
      <Button
        variant="default"
        leftSection={<DownloadIcon />}
        aria-label={`Download ${artifact.name}`}
        loading={download.isPending}
        onClick={() => download.mutate()}
      >
        Download
      </Button>
      <Failure title="Not downloaded" error={download.error} />
    </ListItem>
  );
}

import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { formatFileSize } from '../ui/format';
import { DownloadIcon } from '../ui/icons';
import type { LinkedArtifact } from './linked-artifact';
import styles from './output-file.module.css';

export function OutputFile({ artifact }: { artifact: LinkedArtifact }) {
  return (
    <a className={`boxed-link ${styles.file}`} href={artifact.url} download={artifact.name}>
      <DownloadIcon />
      <Text span className="wrap-anywhere" fw={600} td="underline">
        {artifact.name}
      </Text>
      <Text span flex="none" fz="xs" c="dimmed">
        {formatFileSize(artifact.size)}
      </Text>
    </a>
  );
}

interface OutputImageProps {
  label: string;
  url: string;
  artifact: LinkedArtifact | null;
}

export function OutputImage({ label, url, artifact }: OutputImageProps) {
  const [broken, setBroken] = useState(false);
  return (
    <Stack className={styles.image} gap="xs" align="flex-start">
      {broken ? (
        <Text flex="none" fz="xs" c="dimmed">
          This image can’t be shown. {artifact && 'Download it to view it.'}
        </Text>
      ) : (
        <img src={url} alt={label} onError={() => setBroken(true)} />
      )}
      {artifact && <OutputFile artifact={artifact} />}
    </Stack>
  );
}

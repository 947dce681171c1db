import { useState } from 'react';
import { fileSize } from '../ui/format';
import { DownloadIcon } from '../ui/icons';
import type { LinkedArtifact } from './linked-artifact';
import styles from './output-file.module.css';

export function OutputFile({ artifact }: { artifact: LinkedArtifact }) {
  return (
    <a className={styles.file} href={artifact.url} download={artifact.name}>
      <DownloadIcon />
      <span className={styles.name}>{artifact.name}</span>
      <span className={styles.size}>{fileSize(artifact.size)}</span>
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
    <div className={styles.image}>
      {broken ? (
        <p className={styles.size}>This picture can’t be shown. {artifact && 'Download it to see what it is.'}</p>
      ) : (
        <img src={url} alt={label} onError={() => setBroken(true)} />
      )}
      {artifact && <OutputFile artifact={artifact} />}
    </div>
  );
}

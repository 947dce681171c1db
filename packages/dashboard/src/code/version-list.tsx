import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { fileSize } from '../ui/format';
import { CheckIcon } from '../ui/icons';
import { StatusChip } from '../ui/status-chip';
import { Timestamp } from '../ui/timestamp';
import styles from './version-list.module.css';

export interface ListedVersion {
  version: number;
  sha: string;
  current: boolean;
  message: string | null;
  author: ReactNode;
  created_at: string;
  change_source: string;
  file_count: number;
  bytes: number;
}

/** The origin of a version, in words that follow its author's name. */
const SOURCES: Record<string, string> = {
  created: 'created it',
  edited: 'changed settings',
  files: 'changed files',
  bundle: 'uploaded a bundle',
  upload: 'uploaded files',
  candidate: 'promoted a candidate',
  rollback: 'went back to an earlier version',
  run: 'wrote it back',
};

interface VersionListProps {
  versions: ListedVersion[];
  /** The version whose changes are shown. */
  shown: number | null;
  onShow: (version: ListedVersion) => void;
  /** Absent: nobody may. */
  onRollBack?: (version: ListedVersion) => void;
}

/** Newest first: who made each version, and what can be done with it. */
export function VersionList({ versions, shown, onShow, onRollBack }: VersionListProps) {
  return (
    <ol className={styles.list} reversed>
      {versions.map((version) => {
        const { version: number, current, message, author, created_at, change_source, file_count, bytes } = version;
        return (
          <li key={number} className={styles.row} data-shown={number === shown || undefined}>
            <div className={styles.words}>
              <p className={styles.title}>
                <span className={styles.number}>Version {number}</span>
                {current && (
                  <StatusChip tone="success" icon={<CheckIcon />}>
                    Current
                  </StatusChip>
                )}
              </p>
              {message && <p className={styles.message}>{message}</p>}
              <p className={styles.about}>
                {author ?? 'Somebody'} {SOURCES[change_source] ?? 'changed it'}{' '}
                <Timestamp at={Date.parse(created_at)} /> · {file_count === 1 ? '1 file' : `${file_count} files`},{' '}
                {fileSize(bytes)}
              </p>
            </div>
            <div className={styles.actions}>
              <Button
                size="compact-sm"
                variant="default"
                aria-pressed={number === shown}
                aria-label={`Changes in version ${number}`}
                onClick={() => onShow(version)}
              >
                Changes
              </Button>
              {!current && onRollBack && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Roll back to version ${number}`}
                  onClick={() => onRollBack(version)}
                >
                  Roll back
                </Button>
              )}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

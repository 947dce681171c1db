import { Box, Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatFileSize } from '../ui/format';
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

/** Describes the origin of a version, after its author's name. */
const CHANGE_SOURCE_LABELS: Record<string, string> = {
  created: 'created this version',
  edited: 'changed settings',
  files: 'changed files',
  bundle: 'uploaded a bundle',
  upload: 'uploaded files',
  candidate: 'promoted a candidate',
  rollback: 'rolled back to an earlier version',
  run: 'saved changes from a run',
};

interface VersionListProps {
  versions: ListedVersion[];
  /** The version whose changes are shown. */
  shown: number | null;
  onShow: (version: ListedVersion) => void;
  /** Absent: rolling back is not allowed. */
  onRollBack?: (version: ListedVersion) => void;
}

/** Lists versions with author and actions, newest first. */
export function VersionList({ versions, shown, onShow, onRollBack }: VersionListProps) {
  return (
    <Box component="ol" className="divided" reversed>
      {versions.map((version) => {
        const { version: number, current, message, author, created_at, change_source, file_count, bytes } = version;
        return (
          <li key={number} className={styles.row} data-shown={number === shown || undefined}>
            <Stack gap={2} miw={0}>
              <Group component="p" gap="xs">
                <Text span fw={640}>
                  Version {number}
                </Text>
                {current && <StatusChip tone="success" icon={<CheckIcon />} word="Current" />}
              </Group>
              {message && (
                <Text className="wrap-anywhere" fz="sm">
                  {message}
                </Text>
              )}
              <p className="caption">
                {author ?? 'Unknown user'} {CHANGE_SOURCE_LABELS[change_source] ?? 'saved this version'}{' '}
                <Timestamp at={Date.parse(created_at)} /> · {file_count === 1 ? '1 file' : `${file_count} files`},{' '}
                {formatFileSize(bytes)}
              </p>
            </Stack>
            <Group gap="xs" align="stretch">
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
            </Group>
          </li>
        );
      })}
    </Box>
  );
}

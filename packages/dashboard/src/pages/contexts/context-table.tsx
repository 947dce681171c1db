import { Stack, Text, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Link } from 'react-router';
import { WorkerLinks } from '../../contexts/context-frame';
import type { Context } from '../../shell/api';
import { contextPath } from '../../shell/paths';
import { type Column, DataTable } from '../../ui/data-table';
import { formatFileSize } from '../../ui/format';
import { SearchIcon } from '../../ui/icons';
import { Timestamp } from '../../ui/timestamp';
import styles from './contexts-page.module.css';

/** The search is hidden below this number of contexts. */
const SEARCH_MIN_ROWS = 8;

export function ContextTable({ contexts }: { contexts: Context[] }) {
  const [text, setText] = useState('');
  const matches = useMemo(() => {
    const searchText = text.trim().toLowerCase();
    return contexts.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(searchText));
  }, [contexts, text]);
  return (
    <Stack gap="md">
      {contexts.length >= SEARCH_MIN_ROWS && (
        <TextInput
          maw="24rem"
          type="search"
          aria-label="Search contexts"
          placeholder="Search by name or description"
          leftSection={<SearchIcon />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      {matches.length === 0 ? (
        <Text c="dimmed" role="status">
          No contexts match your search.
        </Text>
      ) : (
        <DataTable label="Contexts" columns={COLUMNS} rows={matches} getKey={({ name }) => name} isCard />
      )}
    </Stack>
  );
}

const formatFileCount = ({ file_count }: Context) => (file_count === 1 ? '1 file' : `${file_count} files`);

const COLUMNS: Column<Context>[] = [
  {
    head: 'Name',
    className: styles.name,
    cell: (context) => {
      const { name, description, visibility, writeable, total_size_bytes, version } = context;
      const flags = [visibility === 'private' && 'Private', writeable && 'Runs write back'].filter(Boolean);
      return (
        <>
          <Link to={contextPath(name)}>{name}</Link>
          {description && <p>{description}</p>}
          {flags.length > 0 && <p>{flags.join(' · ')}</p>}
          <p className={styles.narrow}>
            {formatFileCount(context)}, {formatFileSize(total_size_bytes)} · version {version}
          </p>
        </>
      );
    },
  },
  {
    head: 'Files',
    className: styles.size,
    cell: (context) => (
      <>
        {formatFileCount(context)}
        <p>{formatFileSize(context.total_size_bytes)}</p>
      </>
    ),
  },
  { head: 'Version', className: styles.version, cell: ({ version }) => version },
  {
    head: 'Used by',
    className: styles.usedBy,
    cell: ({ used_by }) => (used_by.length ? <WorkerLinks workers={used_by} /> : 'No worker'),
  },
  { head: 'Changed', className: styles.when, cell: ({ updated_at }) => <Timestamp at={Date.parse(updated_at)} /> },
];

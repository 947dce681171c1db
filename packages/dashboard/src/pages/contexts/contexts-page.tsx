import { unwrap } from '@gantry/api-client';
import { Button, Skeleton, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link } from 'react-router';
import { WorkerLinks } from '../../contexts/context-frame';
import { contextKeys } from '../../contexts/use-context';
import { type Context, workerApi } from '../../shell/api';
import { contextPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import table from '../../ui/data-table.module.css';
import { Empty } from '../../ui/empty';
import { fileSize } from '../../ui/format';
import { SearchIcon } from '../../ui/icons';
import { FailedToLoad } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { Timestamp } from '../../ui/timestamp';
import styles from './contexts-page.module.css';
import { NewContext } from './new-context';

const PAGE = 200;
/** Fewer are seen at a glance. */
const SEARCHED_FROM = 8;

/** Packs of files that workers of this workspace read. */
export default function ContextsPage() {
  useTitle('Contexts');
  const workspace = useWorkspace();
  const mayMake = workspace !== undefined && workspace.role !== 'viewer';
  const [isMaking, setMaking] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: contextKeys.list(workspace?.id),
    queryFn: readAll,
    enabled: workspace !== undefined,
  });
  return (
    <>
      <PageHead
        title="Contexts"
        about="Files that workers find beside their code when they run: price lists, templates, instructions."
        actions={mayMake && <Button onClick={() => setMaking(true)}>New context</Button>}
      />
      {error && !data ? (
        <FailedToLoad what="The list" error={error} retry={refetch} />
      ) : !data ? (
        <Skeleton height={240} radius={10} />
      ) : data.length === 0 ? (
        <Empty title="No contexts yet" level={2}>
          <p>
            A context is a pack of files with versions. A worker that lists it under contexts finds it at{' '}
            <code>contexts/its-name/</code> in each run, and a change of the files needs no new version of the worker.
          </p>
          {mayMake && (
            <p>
              <Button onClick={() => setMaking(true)}>Create the first one</Button>
            </p>
          )}
        </Empty>
      ) : (
        <ContextTable contexts={data} />
      )}
      {isMaking && <NewContext onClose={() => setMaking(false)} />}
    </>
  );
}

/** Newest first; there are few, since each is made by hand. */
async function readAll(): Promise<Context[]> {
  const all: Context[] = [];
  for (;;) {
    const params = { query: { limit: PAGE, offset: all.length } };
    const page = await unwrap((await workerApi()).GET('/api/contexts', { params }));
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

function ContextTable({ contexts }: { contexts: Context[] }) {
  const [text, setText] = useState('');
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return contexts.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
  }, [contexts, text]);
  return (
    <div className={styles.list}>
      {contexts.length >= SEARCHED_FROM && (
        <TextInput
          className={styles.search}
          type="search"
          aria-label="Search contexts"
          placeholder="Search by name or description"
          leftSection={<SearchIcon />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      {found.length === 0 ? (
        <p className={styles.none} role="status">
          No context has these letters in its name or description.
        </p>
      ) : (
        <section className={`${table.scroll} ${table.card}`} aria-label="Contexts">
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col" className={styles.size}>
                  Files
                </th>
                <th scope="col" className={styles.version}>
                  Version
                </th>
                <th scope="col">Used by</th>
                <th scope="col" className={styles.when}>
                  Changed
                </th>
              </tr>
            </thead>
            <tbody>
              {found.map((context) => (
                <Row key={context.name} context={context} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}

function Row({ context }: { context: Context }) {
  const { name, description, visibility, writeable, file_count, total_size_bytes, version, used_by } = context;
  const files = file_count === 1 ? '1 file' : `${file_count} files`;
  const marks = [visibility === 'private' && 'Private', writeable && 'Runs write back'].filter(Boolean);
  return (
    <tr>
      <td className={styles.name}>
        <Link to={contextPath(name)}>{name}</Link>
        {description && <p>{description}</p>}
        {marks.length > 0 && <p>{marks.join(' · ')}</p>}
        <p className={styles.narrow}>
          {files}, {fileSize(total_size_bytes)} · version {version}
        </p>
      </td>
      <td className={styles.size}>
        {files}
        <p>{fileSize(total_size_bytes)}</p>
      </td>
      <td className={styles.version}>{version}</td>
      <td className={styles.usedBy}>{used_by.length ? <WorkerLinks workers={used_by} /> : 'No worker'}</td>
      <td className={styles.when}>
        <Timestamp at={Date.parse(context.updated_at)} />
      </td>
    </tr>
  );
}

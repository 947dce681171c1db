import { Link } from 'react-router';
import { WorkerLinks } from '../../contexts/context-layout';
import type { Context } from '../../shell/api';
import { contextPath } from '../../shell/paths';
import { formatFileSize } from '../../ui/format';
import { NameCell } from '../../ui/name-cell';
import type { Column } from '../../ui/table-model';
import { buildTimeColumn } from '../../ui/time-column';

export const CONTEXT_COLUMNS: Column<Context>[] = [
  {
    head: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name, description, visibility, writeable }) => (
      <NameCell name={<Link to={contextPath(name)}>{name}</Link>}>
        {description}
        {[visibility === 'private' && 'Private', writeable && 'Runs can save changes'].filter(Boolean).join(' · ')}
      </NameCell>
    ),
  },
  {
    head: 'Files',
    isLabelled: true,
    className: 'nowrap',
    sortBy: ({ total_size_bytes }) => total_size_bytes,
    cell: ({ file_count, total_size_bytes }) =>
      `${file_count === 1 ? '1 file' : `${file_count} files`}, ${formatFileSize(total_size_bytes)}`,
  },
  { head: 'Version', isLabelled: true, cell: ({ version }) => version },
  {
    head: 'Used by',
    isLabelled: true,
    cell: ({ used_by }) => (used_by.length ? <WorkerLinks workers={used_by} /> : 'No workers'),
  },
  buildTimeColumn('Updated', ({ updated_at }) => updated_at),
];

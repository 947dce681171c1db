import { Box, Button, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { automationPath, workerPath } from '../../shell/paths';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import { StatusChip } from '../../ui/status-chip';
import type { Column } from '../../ui/table-model';
import { Timestamp } from '../../ui/timestamp';
import {
  isMissing,
  listSurfacesWithValue,
  type SecretRow,
  SURFACE_LABELS,
  SURFACES,
  type Surface,
  type SurfaceSecret,
} from './secret-rows';

export const SECRET_SEARCH = {
  label: 'Search secrets',
  placeholder: 'Search by name',
  getText: ({ name }: SecretRow) => name,
  none: 'No secrets match your search.',
};

/** Columns for the name of a secret and for its state on each surface. */
export const SECRET_COLUMNS: Column<SecretRow>[] = [
  {
    head: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name }) => (
      <Box component="code" className="wrap-anywhere" fw={640}>
        {name}
      </Box>
    ),
  },
  ...SURFACES.map(
    (surface): Column<SecretRow> => ({
      head: SURFACE_LABELS[surface],
      isLabelled: true,
      sortBy: ({ bySurface }) => bySurface[surface]?.setAt,
      cell: ({ bySurface }) => <SurfaceCell surface={surface} secretState={bySurface[surface]} />,
    }),
  ),
];

interface SecretActionsProps {
  row: SecretRow;
  onSet: () => void;
  onDelete: () => void;
}

export function SecretActions({ row, onSet, onDelete }: SecretActionsProps) {
  const { name, missing } = row;
  const isSet = listSurfacesWithValue(row).length > 0;
  const verb = isSet && !missing.length ? 'Replace' : 'Set';
  return (
    <>
      <Button size="xs" variant={missing.length ? undefined : 'default'} aria-label={`${verb} ${name}`} onClick={onSet}>
        {verb}
      </Button>
      {isSet && (
        <Button size="xs" variant="default" aria-label={`Delete ${name}`} onClick={onDelete}>
          Delete
        </Button>
      )}
    </>
  );
}

interface SurfaceCellProps {
  surface: Surface;
  secretState: SurfaceSecret | undefined;
}

function SurfaceCell({ surface, secretState }: SurfaceCellProps) {
  return (
    <>
      <Group gap="4px 8px" fz="sm" c="dimmed">
        {secretState?.setAt != null ? (
          <>
            <StatusChip tone="success" icon={<CheckIcon />} word="Set" />
            <span>
              <Timestamp at={secretState.setAt} />
            </span>
          </>
        ) : isMissing(secretState) ? (
          <StatusChip tone="error" icon={<CrossIcon />} word="Missing" />
        ) : (
          <span>Not set</span>
        )}
      </Group>
      {secretState && secretState.hosts.length > 0 && (
        <Text className="caption" mt={4}>
          Sent only to {secretState.hosts.join(', ')} in these request parts: {secretState.places.join(', ')}
        </Text>
      )}
      {secretState && <SecretUsage surface={surface} secretState={secretState} />}
    </>
  );
}

const USERS_SHOWN = 3;
const PATH_BUILDERS = { workers: workerPath, automations: automationPath };

function SecretUsage({ surface, secretState }: { surface: Surface; secretState: SurfaceSecret }) {
  const { usedBy, hosts, lastUsedAt, setAt } = secretState;
  if (!usedBy.length)
    return setAt === null ? null : (
      <Text className="caption" mt={4}>
        No {surface.slice(0, -1)} uses this secret{' '}
      </Text>
    );
  const hiddenCount = usedBy.length - USERS_SHOWN;
  return (
    <Text className="caption" mt={4}>
      {usedBy.slice(0, USERS_SHOWN).map(({ id, name, exposed }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <Link to={PATH_BUILDERS[surface](id)}>{name}</Link>
          {exposed && hosts.length > 0 && ' (code can read the value)'}
        </span>
      ))}
      {hiddenCount > 0 && ` and ${hiddenCount} more`}
      {lastUsedAt !== null && (
        <>
          , last used <Timestamp at={lastUsedAt} />
        </>
      )}
    </Text>
  );
}

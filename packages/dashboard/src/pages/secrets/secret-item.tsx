import { Box, Button, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { automationPath, workerPath } from '../../shell/paths';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import { StatusChip } from '../../ui/status-chip';
import { Timestamp } from '../../ui/timestamp';
import { isMissing, type SecretRow, type Surface, type SurfaceSecret } from './secret-rows';
import styles from './secrets-page.module.css';

interface SecretItemProps {
  row: SecretRow;
  canEdit: boolean;
  onSet: () => void;
  onDelete: () => void;
}

export function SecretItem({ row, canEdit, onSet, onDelete }: SecretItemProps) {
  const { name, bySurface: secretState, missing } = row;
  const isSet = secretState.workers?.setAt != null || secretState.automations?.setAt != null;
  return (
    <li className={styles.row}>
      <Box component="code" className={`${styles.name} wrap-anywhere`} pt="0.1rem" fw={640}>
        {name}
      </Box>
      <SurfaceCell surface="workers" label="Workers" secretState={secretState.workers} />
      <SurfaceCell surface="automations" label="Automations" secretState={secretState.automations} />
      {canEdit && (
        <div className={styles.actions}>
          <Button
            size="xs"
            variant={missing.length ? undefined : 'default'}
            aria-label={`${isSet && !missing.length ? 'Replace' : 'Set'} ${name}`}
            onClick={onSet}
          >
            {isSet && !missing.length ? 'Replace' : 'Set'}
          </Button>
          {isSet && (
            <Button size="xs" variant="default" aria-label={`Delete ${name}`} onClick={onDelete}>
              Delete
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

interface SurfaceCellProps {
  surface: Surface;
  label: string;
  secretState: SurfaceSecret | undefined;
}

function SurfaceCell({ surface, label, secretState }: SurfaceCellProps) {
  return (
    <Box miw={0}>
      <span className={styles.label}>{label}</span>
      <Group gap="4px 8px" fz="sm" c="dimmed">
        {secretState?.setAt != null ? (
          <>
            <StatusChip tone="success" icon={<CheckIcon />}>
              Set
            </StatusChip>
            <span>
              <Timestamp at={secretState.setAt} />
            </span>
          </>
        ) : isMissing(secretState) ? (
          <StatusChip tone="error" icon={<CrossIcon />}>
            Missing
          </StatusChip>
        ) : (
          <span>Not set</span>
        )}
      </Group>
      {secretState && secretState.hosts.length > 0 && (
        <Text className="wrap-anywhere" mt={4} fz="xs" c="dimmed">
          Goes to {secretState.hosts.join(', ')} only, in {secretState.places.join(', ')}
        </Text>
      )}
      {secretState && <SecretUsers surface={surface} secretState={secretState} />}
    </Box>
  );
}

const USERS_SHOWN = 3;
const PATH_BUILDERS = { workers: workerPath, automations: automationPath };

function SecretUsers({
  surface,
  secretState: { usedBy, hosts, lastUsedAt, setAt },
}: {
  surface: Surface;
  secretState: SurfaceSecret;
}) {
  if (!usedBy.length)
    return setAt === null ? null : (
      <Text className="wrap-anywhere" mt={4} fz="xs" c="dimmed">
        No {surface.slice(0, -1)} names it
      </Text>
    );
  const hiddenCount = usedBy.length - USERS_SHOWN;
  return (
    <Text className="wrap-anywhere" mt={4} fz="xs" c="dimmed">
      {usedBy.slice(0, USERS_SHOWN).map(({ id, name, exposed }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <Link to={PATH_BUILDERS[surface](id)}>{name}</Link>
          {exposed && hosts.length > 0 && ' (its code gets the value)'}
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

import { Box, Button, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { automationPath, workerPath } from '../../shell/paths';
import { CheckIcon, CrossIcon } from '../../ui/icons';
import { StatusChip } from '../../ui/status-chip';
import { Timestamp } from '../../ui/timestamp';
import { isMissing, type SecretRow, type SecretThere, type Surface } from './secret-rows';
import styles from './secrets-page.module.css';

interface SecretItemProps {
  row: SecretRow;
  mayChange: boolean;
  onSet: () => void;
  onDelete: () => void;
}

export function SecretItem({ row, mayChange, onSet, onDelete }: SecretItemProps) {
  const { name, there, missing } = row;
  const isSet = there.workers?.setAt != null || there.automations?.setAt != null;
  return (
    <li className={styles.row}>
      <Box component="code" className={`${styles.name} wrap-anywhere`} pt="0.1rem" fw={640}>
        {name}
      </Box>
      <SurfaceCell surface="workers" label="Workers" there={there.workers} />
      <SurfaceCell surface="automations" label="Automations" there={there.automations} />
      {mayChange && (
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
  there: SecretThere | undefined;
}

function SurfaceCell({ surface, label, there }: SurfaceCellProps) {
  return (
    <Box miw={0}>
      <span className={styles.label}>{label}</span>
      <Group gap="4px 8px" fz="sm" c="dimmed">
        {there?.setAt != null ? (
          <>
            <StatusChip tone="success" icon={<CheckIcon />}>
              Set
            </StatusChip>
            <span>
              <Timestamp at={there.setAt} />
            </span>
          </>
        ) : isMissing(there) ? (
          <StatusChip tone="error" icon={<CrossIcon />}>
            Missing
          </StatusChip>
        ) : (
          <span>Not set</span>
        )}
      </Group>
      {there && there.hosts.length > 0 && (
        <Text className="wrap-anywhere" mt={4} fz="xs" c="dimmed">
          Goes to {there.hosts.join(', ')} only, in {there.places.join(', ')}
        </Text>
      )}
      {there && <UsedBy surface={surface} there={there} />}
    </Box>
  );
}

const NAMED_MAX = 3;
const pathOf = { workers: workerPath, automations: automationPath };

function UsedBy({ surface, there: { usedBy, hosts, lastUsedAt, setAt } }: { surface: Surface; there: SecretThere }) {
  if (!usedBy.length)
    return setAt === null ? null : (
      <Text className="wrap-anywhere" mt={4} fz="xs" c="dimmed">
        No {surface.slice(0, -1)} names it
      </Text>
    );
  const more = usedBy.length - NAMED_MAX;
  return (
    <Text className="wrap-anywhere" mt={4} fz="xs" c="dimmed">
      {usedBy.slice(0, NAMED_MAX).map(({ id, name, exposed }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <Link to={pathOf[surface](id)}>{name}</Link>
          {exposed && hosts.length > 0 && ' (its code gets the value)'}
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
      {lastUsedAt !== null && (
        <>
          , last used <Timestamp at={lastUsedAt} />
        </>
      )}
    </Text>
  );
}

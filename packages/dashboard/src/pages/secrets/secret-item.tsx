import { Button } from '@mantine/core';
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
      <code className={styles.name}>{name}</code>
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
    <div className={styles.cell}>
      <span className={styles.label}>{label}</span>
      <div className={styles.state}>
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
      </div>
      {there && there.hosts.length > 0 && (
        <p className={styles.uses}>
          Goes to {there.hosts.join(', ')} only, in {there.places.join(', ')}
        </p>
      )}
      {there && <UsedBy surface={surface} there={there} />}
    </div>
  );
}

const NAMED_MAX = 3;
const pathOf = { workers: workerPath, automations: automationPath };

function UsedBy({ surface, there: { usedBy, hosts, lastUsedAt, setAt } }: { surface: Surface; there: SecretThere }) {
  if (!usedBy.length) return setAt === null ? null : <p className={styles.uses}>No {surface.slice(0, -1)} names it</p>;
  const more = usedBy.length - NAMED_MAX;
  return (
    <p className={styles.uses}>
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
    </p>
  );
}

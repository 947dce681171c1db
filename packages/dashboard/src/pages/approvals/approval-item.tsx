import { Link, useLocation } from 'react-router';
import { DecidedBy } from '../../approvals/decided-by';
import type { Approval } from '../../shell/api';
import { Timestamp } from '../../ui/timestamp';
import styles from './approvals-page.module.css';

const SOON_MS = 24 * 3_600_000;

interface ApprovalItemProps {
  id: string;
  approval: Approval;
  isOpen: boolean;
  onOpen: () => void;
}

/** A link, so that Enter opens it and its address can be copied. */
export function ApprovalItem({ id, approval, isOpen, onOpen }: ApprovalItemProps) {
  const { pathname } = useLocation();
  const { kind, title, worker_name, requested_at, expires_at, status } = approval;
  const isPending = status === 'pending';
  const closesSoon = isPending && Date.parse(expires_at) - Date.now() < SOON_MS;
  return (
    <li>
      <Link
        id={id}
        className={styles.item}
        replace
        preventScrollReset
        to={`${pathname}?approval=${encodeURIComponent(approval.id)}`}
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => requestAnimationFrame(onOpen)}
      >
        <span className={styles.itemTitle}>{title}</span>
        <span className={styles.itemAbout}>
          {worker_name} · {isPending ? <Timestamp at={Date.parse(requested_at)} /> : <DecidedBy approval={approval} />}
        </span>
        {kind === 'candidate' && <span className={styles.kind}>Proposed version</span>}
        {closesSoon && (
          <span className={styles.soon} data-tone="timeout">
            closes <Timestamp at={Date.parse(expires_at)} />
          </span>
        )}
      </Link>
    </li>
  );
}

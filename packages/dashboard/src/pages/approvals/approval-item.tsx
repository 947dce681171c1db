import { Text } from '@mantine/core';
import { Link, useLocation } from 'react-router';
import { DecisionByline } from '../../approvals/decision-byline';
import type { Approval } from '../../shell/api';
import { Timestamp } from '../../ui/timestamp';
import styles from './approvals-page.module.css';

const EXPIRY_WARNING_MS = 24 * 3_600_000;

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
  const closesSoon = isPending && Date.parse(expires_at) - Date.now() < EXPIRY_WARNING_MS;
  return (
    <li>
      <Link
        id={id}
        className={`${styles.item} list-link`}
        replace
        preventScrollReset
        to={`${pathname}?approval=${encodeURIComponent(approval.id)}`}
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => requestAnimationFrame(onOpen)}
      >
        <Text span className="wrap-anywhere" fw={640}>
          {title}
        </Text>
        <span className="caption">
          {worker_name} ·{' '}
          {isPending ? <Timestamp at={Date.parse(requested_at)} /> : <DecisionByline approval={approval} />}
        </span>
        {kind === 'candidate' && (
          <Text span fz="xs" fw={600} c="var(--accent)">
            Proposed version
          </Text>
        )}
        {closesSoon && (
          <Text span className="wrap-anywhere" fz="xs" c="var(--tone)" data-tone="timeout">
            expires <Timestamp at={Date.parse(expires_at)} />
          </Text>
        )}
      </Link>
    </li>
  );
}

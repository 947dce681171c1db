import { Box, Text } from '@mantine/core';
import { useId, useState } from 'react';
import { AuditMessage, type MemberNames } from '../../audit/audit-message';
import type { AuditEntry } from '../../audit/build-audit-message';
import { type Detail, DetailList } from '../../ui/detail-list';
import { formatAbsoluteTime } from '../../ui/format';
import { DownIcon } from '../../ui/icons';
import { Timestamp } from '../../ui/timestamp';
import styles from './audit-log-page.module.css';

/** Shows an entry as a sentence, with its details on demand. */
export function AuditRow({ entry, people }: { entry: AuditEntry; people: MemberNames }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <li className={styles.row}>
      <p className="wrap-anywhere">
        <AuditMessage entry={entry} people={people} />
      </p>
      <Text span className={`${styles.time} nowrap`} fz="xs" c="dimmed">
        <Timestamp at={Date.parse(entry.created_at)} />
      </Text>
      <button
        type="button"
        className={`${styles.more} icon-button`}
        aria-label="Details"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <DownIcon />
      </button>
      {isOpen && (
        <Box id={id} pb="sm" fz="sm" className="full-row">
          <DetailList details={listEntryDetails(entry)} />
        </Box>
      )}
    </li>
  );
}

const listEntryDetails = ({ actor, resource, details, ...entry }: AuditEntry): Detail[] => [
  ['Time', formatAbsoluteTime(Date.parse(entry.created_at))],
  ['Actor', (actor.label ?? actor.token_id) || null],
  ['IP address', entry.address || null],
  ['User agent', entry.user_agent || null],
  ['Action', entry.action],
  ['Resource', resource.id ? `${resource.type} ${resource.id}` : null],
  ...Object.entries(details).map(
    ([name, value]): Detail => [
      formatFieldName(name),
      (typeof value === 'string' ? value : JSON.stringify(value)) || null,
    ],
  ),
  ['Request ID', entry.request_id || null],
];

const formatFieldName = (field: string): string => field.charAt(0).toUpperCase() + field.slice(1).replaceAll('_', ' ');

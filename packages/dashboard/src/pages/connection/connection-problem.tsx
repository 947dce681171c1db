import { Button } from '@mantine/core';
import { type Connection, needsConsent } from '../../connections/connection-queries';
import { Notice } from '../../ui/notice';

interface ConnectionProblemProps {
  connection: Connection;
  isBusy: boolean;
  onConsent: () => void;
  onEdit: () => void;
}

/** Explains why a connection does not work, with the button that fixes it for members with the permission. */
export function ConnectionProblem({ connection, isBusy, onConsent, onEdit }: ConnectionProblemProps) {
  const { kind, status, problem, permissions } = connection;
  const usesConsent = needsConsent(connection);
  if (status === 'active') return null;
  if (status === 'pending') {
    return (
      <Notice
        tone="info"
        title="Consent required"
        action={permissions.edit && <ConsentButton isBusy={isBusy} onConsent={onConsent} label="Consent" />}
      >
        Workers using this connection can’t run until the owner grants consent on the provider’s site.
      </Notice>
    );
  }
  const isKey = kind === 'api_key';
  const button = usesConsent ? (
    <ConsentButton isBusy={isBusy} onConsent={onConsent} label="Renew consent" />
  ) : (
    <Button onClick={onEdit}>{isKey ? 'Replace key' : 'Change URL or token'}</Button>
  );
  return (
    <Notice
      tone="error"
      title={usesConsent && status === 'expired' ? 'Consent expired' : 'Connection not working'}
      action={permissions.edit && button}
    >
      {problem ?? 'The last check failed.'}
      {!permissions.edit && '\nThe connection’s owner or an admin can fix this.'}
    </Notice>
  );
}

const ConsentButton = ({ isBusy, onConsent, label }: { isBusy: boolean; onConsent: () => void; label: string }) => (
  <Button loading={isBusy} onClick={onConsent}>
    {label}
  </Button>
);

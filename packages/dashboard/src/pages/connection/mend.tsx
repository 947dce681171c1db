import { Button } from '@mantine/core';
import { type Connection, needsConsent } from '../../connections/connection-queries';
import { Notice } from '../../ui/notice';

interface MendProps {
  connection: Connection;
  isBusy: boolean;
  onConsent: () => void;
  onEdit: () => void;
}

/** The reason why a connection does not work, with the button that repairs it for those who may; else nothing. */
export function Mend({ connection, isBusy, onConsent, onEdit }: MendProps) {
  const { kind, status, problem, permissions } = connection;
  const isConsented = needsConsent(connection);
  if (status === 'active') return null;
  if (status === 'pending') {
    return (
      <Notice
        tone="info"
        title="Nobody has consented yet"
        action={permissions.edit && <Consent isBusy={isBusy} onConsent={onConsent} label="Consent" />}
      >
        Workers that declare it cannot run until its owner has said yes at the provider.
      </Notice>
    );
  }
  const isKey = kind === 'api_key';
  const button = isConsented ? (
    <Consent isBusy={isBusy} onConsent={onConsent} label="Consent again" />
  ) : (
    <Button onClick={onEdit}>{isKey ? 'Replace the key' : 'Change its address or token'}</Button>
  );
  return (
    <Notice
      tone="error"
      title={isConsented ? 'Somebody has to consent again' : 'It does not work'}
      action={permissions.edit && button}
    >
      {problem ?? 'The last check failed.'}
      {!permissions.edit && '\nIts owner or an admin can mend it.'}
    </Notice>
  );
}

const Consent = ({ isBusy, onConsent, label }: { isBusy: boolean; onConsent: () => void; label: string }) => (
  <Button loading={isBusy} onClick={onConsent}>
    {label}
  </Button>
);

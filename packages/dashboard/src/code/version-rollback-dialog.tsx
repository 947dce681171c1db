import { MessageDialog } from './message-dialog';

interface VersionRollbackDialogProps {
  version: number;
  current: number | undefined;
  onRollBack: (message: string | undefined) => Promise<void>;
  onClose: () => void;
}

export const VersionRollbackDialog = ({ version, current, onRollBack, onClose }: VersionRollbackDialogProps) => (
  <MessageDialog
    title={`Roll back to version ${version}?`}
    label="Reason"
    submit="Roll back"
    failure="Rollback failed"
    onSubmit={onRollBack}
    onClose={onClose}
  >
    <p>
      This creates a new version identical to version {version}. New runs will use the new version. You can go back to{' '}
      {current === undefined ? 'the current version' : `version ${current}`} at any time.
    </p>
  </MessageDialog>
);

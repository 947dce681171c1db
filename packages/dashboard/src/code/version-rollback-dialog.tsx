import { MessageDialog } from './message-dialog';

interface RollBackDialogProps {
  version: number;
  current: number | undefined;
  onRollBack: (message: string | undefined) => Promise<void>;
  onClose: () => void;
}

export const VersionRollbackDialog = ({ version, current, onRollBack, onClose }: RollBackDialogProps) => (
  <MessageDialog
    title={`Roll back to version ${version}?`}
    label="Reason"
    submit="Roll back"
    failure="Not rolled back"
    onSubmit={onRollBack}
    onClose={onClose}
  >
    <p>
      A new version is made that is equal to version {version}, and new runs use it. Nothing is lost: you can come back
      to {current === undefined ? 'the current version' : `version ${current}`} in the same way.
    </p>
  </MessageDialog>
);

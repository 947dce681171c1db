import { Button, Group } from '@mantine/core';

export interface FormActionsProps {
  /** Label of the button that submits the form. */
  submit: string;
  /** Absent: there is no such button. */
  onCancel?: (() => void) | undefined;
  cancel?: string;
  isBusy: boolean;
  isDisabled?: boolean;
  isDangerous?: boolean;
  /** At the end of a dialog, the submit button last; on a page, it is first. */
  isDialog?: boolean;
}

/** The buttons below a form. */
export function FormActions(props: FormActionsProps) {
  const { submit, onCancel, cancel = 'Cancel', isBusy, isDisabled, isDangerous, isDialog } = props;
  const cancelButton = onCancel && (
    <Button variant="default" onClick={onCancel}>
      {cancel}
    </Button>
  );
  return (
    <Group gap="xs" justify={isDialog ? 'flex-end' : undefined}>
      {isDialog && cancelButton}
      <Button type="submit" color={isDangerous ? 'red' : undefined} loading={isBusy} disabled={isDisabled}>
        {submit}
      </Button>
      {!isDialog && cancelButton}
    </Group>
  );
}

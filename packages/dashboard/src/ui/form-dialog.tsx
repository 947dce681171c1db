import { Button, Group } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { Dialog } from './dialog';
import { FormStack } from './form';
import { Failure } from './notice';

interface FormActionsProps {
  /** Label of the button that submits the form. */
  submit: string;
  onCancel: () => void;
  cancel?: string;
  isBusy: boolean;
  isDisabled?: boolean;
  isDangerous?: boolean;
}

/** The buttons below a form in a dialog. */
function FormActions(props: FormActionsProps) {
  const { submit, onCancel, cancel = 'Cancel', isBusy, isDisabled, isDangerous } = props;
  return (
    <Group gap="xs" justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {cancel}
      </Button>
      <Button type="submit" color={isDangerous ? 'red' : undefined} loading={isBusy} disabled={isDisabled}>
        {submit}
      </Button>
    </Group>
  );
}

interface FormDialogProps extends Omit<FormActionsProps, 'onCancel' | 'isBusy'> {
  title: string;
  onClose: () => void;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** The mutation that the form submits. */
  change: { isPending: boolean; error: Error | null };
  /** Title of the error message. */
  failure?: string;
  children: ReactNode;
}

/** Shows a form in a dialog, with the error of its mutation. Browser validation is off. */
export function FormDialog({ title, onClose, onSubmit, change, failure, children, ...actions }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <FormStack
        p="lg"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit(event);
        }}
      >
        {children}
        <Failure title={failure} error={change.error} />
        <FormActions {...actions} onCancel={onClose} isBusy={change.isPending} />
      </FormStack>
    </Dialog>
  );
}

import type { FormEvent, ReactNode } from 'react';
import { Dialog } from './dialog';
import { FormStack } from './form';
import { FormActions, type FormActionsProps } from './form-actions';
import { ErrorNotice } from './notice';

interface FormDialogProps extends Omit<FormActionsProps, 'onCancel' | 'isBusy' | 'isDialog'> {
  title: string;
  onClose: () => void;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** The mutation that the form submits. */
  mutation: { isPending: boolean; error: Error | null };
  /** Title of the error message. */
  failure?: string;
  children: ReactNode;
}

/** Shows a form in a dialog, with the error of its mutation. Browser validation is off. */
export function FormDialog({ title, onClose, onSubmit, mutation, failure, children, ...actions }: FormDialogProps) {
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
        <ErrorNotice title={failure} error={mutation.error} />
        <FormActions isDialog {...actions} onCancel={onClose} isBusy={mutation.isPending} />
      </FormStack>
    </Dialog>
  );
}

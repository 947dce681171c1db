import type { FormEvent, ReactNode } from 'react';
import { Dialog } from './dialog';
import { FormStack } from './form';
import { FormActions, type FormActionsProps } from './form-actions';
import { Failure } from './notice';

interface FormDialogProps extends Omit<FormActionsProps, 'onCancel' | 'isBusy' | 'isDialog'> {
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
        <FormActions isDialog {...actions} onCancel={onClose} isBusy={change.isPending} />
      </FormStack>
    </Dialog>
  );
}

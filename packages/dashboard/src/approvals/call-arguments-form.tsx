import { type Ref, useImperativeHandle, useState } from 'react';
import { buildSchemaForm } from '../inputs/schema-form';
import { useInputFields } from '../inputs/use-input-fields';
import type { ApprovalCall } from '../shell/api';

export interface CallArgumentsFormHandle {
  /** Null where a field has a problem, which is then shown. */
  read: () => Record<string, unknown> | null;
  /** Shows a problem at the field of an argument. */
  show: (argument: string, problem: string) => void;
}

/** Edits the arguments of a call as fields of its tool's schema, or as JSON where there is none. */
export function CallArgumentsForm({ ref, call }: { ref: Ref<CallArgumentsFormHandle>; call: ApprovalCall }) {
  const [form] = useState(() => buildSchemaForm(call.input_schema ?? null, call.arguments, call.id));
  const { fields, show, read } = useInputFields(form.items, form.values);

  useImperativeHandle(ref, () => ({
    read() {
      const { inputs, problems } = read();
      show(problems);
      if (problems.size) return null;
      try {
        return form.toObject(inputs);
      } catch (error) {
        show(new Map(form.items.map(({ name }) => [name, error instanceof Error ? error.message : String(error)])));
        return null;
      }
    },
    show(argument, problem) {
      const item = form.findItem(argument);
      if (item) show(new Map([[item.name, problem]]));
    },
  }));

  return fields;
}

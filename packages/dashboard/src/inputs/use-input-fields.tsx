import { type ReactNode, useState } from 'react';
import type { InputItem } from '../shell/api';
import { fieldId, InputField } from './input-field';
import type { Problems } from './input-problems';
import type { FieldValue } from './input-value';
import { buildInitialValues, parseFieldValues } from './typed-inputs';

/** Renders the fields of a form, and holds their values and problems. */
export function useInputFields(items: InputItem[], given: Record<string, unknown> | null) {
  const [typed, setTyped] = useState<ReadonlyMap<string, FieldValue>>(() => buildInitialValues(items, given));
  const [problems, setProblems] = useState<Problems>(new Map());

  /** Shows problems at their fields, and focuses the first. */
  function show(newProblems: Problems) {
    setProblems(newProblems);
    const first = items.find((item) => newProblems.has(item.name));
    if (first) document.getElementById(fieldId(first))?.focus();
  }

  const fields: ReactNode = items.map((item) => (
    <InputField
      key={item.name}
      item={item}
      typed={typed.get(item.name) ?? null}
      problem={problems.get(item.name)}
      onChange={(value) => {
        setTyped((before) => new Map(before).set(item.name, value));
        setProblems((before) => new Map([...before].filter(([name]) => name !== item.name)));
      }}
    />
  ));

  /** The problem of no field in particular. */
  const problem = problems.get('');
  return { fields, problem, show, read: () => parseFieldValues(items, typed) };
}

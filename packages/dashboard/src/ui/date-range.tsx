import { TextInput } from '@mantine/core';

interface DateRangeProps {
  /** ISO days; an empty text is no bound. */
  from: string;
  to: string;
  onChange: (change: { from: string } | { to: string }) => void;
  /** Shows the labels above the fields; otherwise they are for screen readers. */
  isLabelled?: boolean;
}

/** The fields for the first and the last day of a range. */
export const DateRange = ({ from, to, onChange, isLabelled }: DateRangeProps) =>
  (['from', 'to'] as const).map((bound) => (
    <TextInput
      key={bound}
      {...{ [isLabelled ? 'label' : 'aria-label']: bound === 'from' ? 'From' : 'To' }}
      size="sm"
      type="date"
      value={bound === 'from' ? from : to}
      min={bound === 'to' ? from || undefined : undefined}
      max={bound === 'from' ? to || undefined : undefined}
      onChange={({ currentTarget: { value } }) => onChange(bound === 'from' ? { from: value } : { to: value })}
    />
  ));

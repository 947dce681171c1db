import { CheckboxList } from '../ui/checkbox-list';
import { TOOLSET_LABELS, type Toolset } from './toolsets';

interface ToolsetCheckboxesProps {
  value: readonly Toolset[];
  onChange: (value: Toolset[]) => void;
}

/** Renders a checkbox for each toolset. */
export const ToolsetCheckboxes = ({ value, onChange }: ToolsetCheckboxesProps) => (
  <CheckboxList
    options={Object.keys(TOOLSET_LABELS) as Toolset[]}
    labels={TOOLSET_LABELS}
    value={value}
    onChange={onChange}
  />
);

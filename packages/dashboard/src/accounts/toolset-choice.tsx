import { CheckboxList } from '../ui/checkbox-list';
import { TOOLSETS, type Toolset } from './toolsets';

interface ToolsetChoiceProps {
  value: readonly Toolset[];
  onChange: (value: Toolset[]) => void;
}

/** Renders a checkbox for each toolset. */
export const ToolsetChoice = ({ value, onChange }: ToolsetChoiceProps) => (
  <CheckboxList options={Object.keys(TOOLSETS) as Toolset[]} labels={TOOLSETS} value={value} onChange={onChange} />
);

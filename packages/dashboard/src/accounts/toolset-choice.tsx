import { Checkbox } from '@mantine/core';
import { TOOLSETS, type Toolset } from './toolsets';

interface ToolsetChoiceProps {
  value: readonly Toolset[];
  onChange: (value: Toolset[]) => void;
}

/** Renders a checkbox for each toolset. */
export const ToolsetChoice = ({ value, onChange }: ToolsetChoiceProps) =>
  (Object.keys(TOOLSETS) as Toolset[]).map((one) => (
    <Checkbox
      key={one}
      label={TOOLSETS[one]}
      checked={value.includes(one)}
      onChange={({ currentTarget: { checked } }) =>
        onChange(checked ? [...value, one] : value.filter((each) => each !== one))
      }
    />
  ));

import { Checkbox } from '@mantine/core';
import { TOOLSETS, type Toolset } from './toolsets';

interface ToolsetChoiceProps {
  chosen: readonly Toolset[];
  onChange: (chosen: Toolset[]) => void;
}

/** Renders a checkbox for each toolset. */
export const ToolsetChoice = ({ chosen, onChange }: ToolsetChoiceProps) =>
  (Object.keys(TOOLSETS) as Toolset[]).map((one) => (
    <Checkbox
      key={one}
      label={TOOLSETS[one]}
      checked={chosen.includes(one)}
      onChange={({ currentTarget: { checked } }) =>
        onChange(checked ? [...chosen, one] : chosen.filter((each) => each !== one))
      }
    />
  ));

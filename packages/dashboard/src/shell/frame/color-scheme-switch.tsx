import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { MoonIcon, SunIcon } from '../../ui/icons';

/** Switches the colour scheme, which follows the system until then. */
export function ColorSchemeSwitch() {
  // Mantine would switch transitions off by an inline style sheet, which the page's policy forbids.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const other = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={`Switch to ${other} mode`}
      onClick={() => setColorScheme(other)}
    >
      {other === 'light' ? <SunIcon /> : <MoonIcon />}
    </button>
  );
}

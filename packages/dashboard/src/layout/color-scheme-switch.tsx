import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { MoonIcon, SunIcon } from './icons';
import styles from './page-frame.module.css';

/** Follows the system until it is used. */
export function ColorSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      className={styles.iconButton}
      aria-label={`Switch to ${other} mode`}
      onClick={() => setColorScheme(other)}
    >
      {other === 'light' ? <SunIcon /> : <MoonIcon />}
    </button>
  );
}

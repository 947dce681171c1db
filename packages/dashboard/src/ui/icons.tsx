import {
  type Icon,
  IconCheck,
  IconClock,
  IconCopy,
  IconDots,
  IconDownload,
  IconMinus,
  IconMoon,
  IconPlayerPause,
  IconPlayerPlayFilled,
  IconSearch,
  IconSun,
  IconX,
} from '@tabler/icons-react';

/** Stands next to the word that says the same, so screen readers pass it over. */
const beside = (Drawing: Icon) => () => <Drawing size={16} stroke={2.4} aria-hidden="true" focusable="false" />;

export const CheckIcon = beside(IconCheck);
export const ClockIcon = beside(IconClock);
export const CopyIcon = beside(IconCopy);
export const CrossIcon = beside(IconX);
export const DownloadIcon = beside(IconDownload);
export const MoonIcon = beside(IconMoon);
export const PauseIcon = beside(IconPlayerPause);
export const PlayIcon = beside(IconPlayerPlayFilled);
export const SearchIcon = beside(IconSearch);
export const StopIcon = beside(IconMinus);
export const SunIcon = beside(IconSun);
export const WaitIcon = beside(IconDots);

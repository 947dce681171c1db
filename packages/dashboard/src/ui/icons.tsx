import {
  type Icon,
  IconActivity,
  IconAlertTriangle,
  IconArrowDown,
  IconArrowForwardUp,
  IconArrowUp,
  IconBed,
  IconBell,
  IconBolt,
  IconBook2,
  IconBookmark,
  IconBookmarkFilled,
  IconChartBar,
  IconCheck,
  IconChecklist,
  IconChevronDown,
  IconChevronRight,
  IconChevronUp,
  IconClock,
  IconCopy,
  IconDatabase,
  IconDots,
  IconDownload,
  IconFile,
  IconFileCode,
  IconFileText,
  IconFolders,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconLink,
  IconLock,
  IconMenu2,
  IconMessages,
  IconMinus,
  IconMoon,
  IconPlayerPause,
  IconPlayerPlayFilled,
  IconPlayerStopFilled,
  IconPlug,
  IconPlus,
  IconRobot,
  IconSearch,
  IconSettings,
  IconSparkles,
  IconSun,
  IconTool,
  IconUser,
  IconWorld,
  IconX,
} from '@tabler/icons-react';

/** Creates an icon beside a label with the same meaning, hidden from screen readers. */
const inlineIcon = (Drawing: Icon) => () => <Drawing size={16} stroke={2.4} aria-hidden="true" focusable="false" />;

export const ArrowDownIcon = inlineIcon(IconArrowDown);
export const ArrowUpIcon = inlineIcon(IconArrowUp);
export const BookmarkIcon = inlineIcon(IconBookmark);
export const BookmarkedIcon = inlineIcon(IconBookmarkFilled);
export const BoltIcon = inlineIcon(IconBolt);
export const CallIcon = inlineIcon(IconArrowForwardUp);
export const CheckIcon = inlineIcon(IconCheck);
export const ClockIcon = inlineIcon(IconClock);
export const CopyIcon = inlineIcon(IconCopy);
export const CrossIcon = inlineIcon(IconX);
export const DownIcon = inlineIcon(IconChevronDown);
export const DownloadIcon = inlineIcon(IconDownload);
export const LinkIcon = inlineIcon(IconLink);
export const LockIcon = inlineIcon(IconLock);
export const FileIcon = inlineIcon(IconFile);
export const ModelIcon = inlineIcon(IconSparkles);
export const MoonIcon = inlineIcon(IconMoon);
export const PauseIcon = inlineIcon(IconPlayerPause);
export const PersonIcon = inlineIcon(IconUser);
export const PlayIcon = inlineIcon(IconPlayerPlayFilled);
export const PlusIcon = inlineIcon(IconPlus);
export const RightIcon = inlineIcon(IconChevronRight);
export const SearchIcon = inlineIcon(IconSearch);
export const SleepIcon = inlineIcon(IconBed);
export const StopIcon = inlineIcon(IconMinus);
export const StopSquareIcon = inlineIcon(IconPlayerStopFilled);
export const SunIcon = inlineIcon(IconSun);
export const ToolIcon = inlineIcon(IconTool);
export const UpIcon = inlineIcon(IconChevronUp);
export const WarningIcon = inlineIcon(IconAlertTriangle);
export const WaitIcon = inlineIcon(IconDots);
export const WorldIcon = inlineIcon(IconWorld);

/** Creates a navigation icon, beside its name or alone where the navigation is narrow. */
const navigationIcon = (Drawing: Icon) => () => <Drawing size={20} stroke={1.8} aria-hidden="true" focusable="false" />;

export const ReportIcon = navigationIcon(IconChartBar);
export const DataIcon = navigationIcon(IconDatabase);
export const MonitoringIcon = navigationIcon(IconActivity);
export const CodeIcon = navigationIcon(IconFileCode);
export const AgentIcon = navigationIcon(IconSparkles);
export const OverviewIcon = navigationIcon(IconLayoutDashboard);
export const ChatIcon = navigationIcon(IconMessages);
export const WorkersIcon = navigationIcon(IconRobot);
export const AutomationsIcon = navigationIcon(IconBolt);
export const RunsIcon = navigationIcon(IconHistory);
export const ApprovalsIcon = navigationIcon(IconChecklist);
export const SkillsIcon = navigationIcon(IconBook2);
export const ConnectionsIcon = navigationIcon(IconPlug);
export const ContextsIcon = navigationIcon(IconFolders);
export const SecretsIcon = navigationIcon(IconKey);
export const AlertsIcon = navigationIcon(IconBell);
export const SettingsIcon = navigationIcon(IconSettings);
export const DocsIcon = navigationIcon(IconFileText);
export const MenuIcon = navigationIcon(IconMenu2);
export const NarrowIcon = navigationIcon(IconLayoutSidebarLeftCollapse);
export const WidenIcon = navigationIcon(IconLayoutSidebarLeftExpand);

import { buildHueStyle } from './hue-style';
import styles from './service-logo.module.css';

/** SVG path data by slug: see vite.config.mts. */
declare const SERVICE_LOGOS: Readonly<Record<string, string>>;

const logos = new Map(Object.entries(SERVICE_LOGOS));

interface ServiceLogoProps {
  slug: string;
  /** Shown for a service without a logo. */
  initials: string;
}

export function ServiceLogo({ slug, initials }: ServiceLogoProps) {
  const path = logos.get(slug);
  return (
    <span className={styles.logo} style={buildHueStyle(slug)} aria-hidden="true">
      {path ? (
        <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
          <path d={path} fill="currentColor" />
        </svg>
      ) : (
        initials
      )}
    </span>
  );
}

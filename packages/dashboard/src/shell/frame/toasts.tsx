import { Text } from '@mantine/core';
import { CrossIcon } from '../../ui/icons';
import { dismissToast, pauseToast, resumeToast, useToasts } from '../toasts';
import styles from './toasts.module.css';

/** Always rendered, so that screen readers announce what appears in it. */
export function Toasts() {
  return (
    <div className={styles.corner} role="status">
      {useToasts().map(({ id, text, tone, undo }) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: pointing at it only keeps it; its buttons do the rest.
        <div
          key={id}
          className={styles.toast}
          data-tone={tone}
          onMouseEnter={() => pauseToast(id)}
          onMouseLeave={() => resumeToast(id)}
          onFocus={() => pauseToast(id)}
          onBlur={() => resumeToast(id)}
        >
          <Text className="wrap-anywhere" flex={1}>
            {text}
          </Text>
          {undo && (
            <button
              type="button"
              className={styles.undo}
              onClick={() => {
                dismissToast(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
          <button
            type="button"
            className={`${styles.close} icon-button`}
            aria-label="Dismiss"
            onClick={() => dismissToast(id)}
          >
            <CrossIcon />
          </button>
        </div>
      ))}
    </div>
  );
}

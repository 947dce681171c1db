import styles from './conversation.module.css';

/** The agent is at it. @param isSpeaking what it says is seen as it comes */
export function Working({ isSpeaking = false }: { isSpeaking?: boolean }) {
  return (
    <p className={styles.working}>
      <span aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {isSpeaking ? <span className="visually-hidden">Writing</span> : 'Working'}
    </p>
  );
}

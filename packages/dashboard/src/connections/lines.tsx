import parts from './connection-parts.module.css';

/** Hosts or addresses, a line each. */
export const Lines = ({ lines }: { lines: readonly string[] }) => (
  <ul className={parts.lines}>
    {lines.map((line) => (
      <li key={line} className={parts.code}>
        {line}
      </li>
    ))}
  </ul>
);

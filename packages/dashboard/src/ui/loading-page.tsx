import { Skeleton } from '@mantine/core';
import page from './page.module.css';

/** @param columns class of the grid that will hold the two panels */
export function LoadingPage({ what, columns }: { what: string; columns: string | undefined }) {
  return (
    <div aria-busy="true">
      <p className="visually-hidden" role="status">
        Loading {what}
      </p>
      <div className={page.head}>
        <Skeleton height={40} width="min(100%, 24rem)" />
        <Skeleton height={20} width="min(100%, 34rem)" />
      </div>
      <div className={columns}>
        <Skeleton height={360} radius={10} />
        <Skeleton height={360} radius={10} />
      </div>
    </div>
  );
}

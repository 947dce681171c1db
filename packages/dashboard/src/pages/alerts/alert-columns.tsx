import { Link } from 'react-router';
import { getAlertTitle, listAlertDestinations } from '../../alerts/alert-channels';
import { type Alert, formatAlertTypes } from '../../alerts/alert-labels';
import { AlertStatusChip } from '../../alerts/alert-status';
import { AlertSubject } from '../../alerts/alert-subject';
import { alertPath } from '../../shell/paths';
import { NameCell } from '../../ui/name-cell';
import type { Column } from '../../ui/table-model';
import { buildTimeColumn } from '../../ui/time-column';

export const ALERT_COLUMNS: Column<Alert>[] = [
  {
    head: 'Alert',
    sortBy: getAlertTitle,
    cell: (alert) => (
      <NameCell
        name={
          <Link to={alertPath(alert.id)} className="title-link">
            {getAlertTitle(alert)}
          </Link>
        }
      >
        {formatAlertTypes(alert.on)}
        {alert.description && listAlertDestinations(alert).join(', ')}
      </NameCell>
    ),
  },
  { head: 'Source', cell: (alert) => <AlertSubject alert={alert} /> },
  buildTimeColumn('Created', ({ created_at }) => created_at),
  { head: 'Status', cell: (alert) => <AlertStatusChip alert={alert} /> },
];

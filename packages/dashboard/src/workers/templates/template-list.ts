import { chart } from './chart';
import { chatMessage } from './chat-message';
import { csvReport } from './csv-report';
import { dataCheck } from './data-check';
import { expenseApproval } from './expense-approval';
import { failedRunMessage } from './failed-run-message';
import { followUp } from './follow-up';
import { importInSteps } from './import-in-steps';
import { invoiceTable } from './invoice-table';
import { issueTriage } from './issue-triage';
import { nightlyCleanUp } from './nightly-clean-up';
import { numberCheck } from './number-check';
import { onDuty } from './on-duty';
import { pageResearcher } from './page-researcher';
import type { WorkerTemplate } from './template';
import { watchPage } from './watch-page';

/** Templates in the order in which they are listed: the simplest first. */
export const TEMPLATES: readonly WorkerTemplate[] = [
  ...[csvReport, nightlyCleanUp, watchPage, chatMessage, invoiceTable, expenseApproval],
  ...[failedRunMessage, importInSteps, chart, dataCheck, onDuty, followUp],
  ...[pageResearcher, numberCheck, issueTriage],
];

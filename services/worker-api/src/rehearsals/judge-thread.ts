/** Runs the threads that judge outputs, which code of members has written, by checks that members have written. */
import { serveTasks } from '@gantry/thread-pool';
import { checkRunOutcome } from './check-outcome';
import { compareRunOutcomes } from './compare-run-outcomes';
import type { JudgeTask } from './outcome-judge';

serveTasks((task: JudgeTask) => ('checks' in task ? checkRunOutcome(task) : compareRunOutcomes(task)));

/** The thread that checks outputs: members write the checks, and code of theirs the outputs. */
import { serveTasks } from '@gantry/thread-pool';
import { checkOutput } from './check-output';

serveTasks(checkOutput);

/** Ends without having served a task, as a file does that is written at this moment. */

-- Calls that an interruption has stopped, so that a turn that goes on makes them.
ALTER TABLE "chat_parts" ADD COLUMN "was" TEXT;

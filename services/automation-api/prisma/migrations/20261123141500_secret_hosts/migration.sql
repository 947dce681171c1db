-- The only hosts that the value may be sent to; none: code gets the value itself. Sealed values are bound to them.
ALTER TABLE "secrets" ADD COLUMN "hosts" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

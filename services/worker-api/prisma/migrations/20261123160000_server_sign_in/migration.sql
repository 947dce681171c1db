-- MCP servers that people sign in to: who gives their tokens out.
-- AlterTable
ALTER TABLE "connections" ADD COLUMN     "authorization" JSONB;

-- AlterTable
ALTER TABLE "connection_revocations" ADD COLUMN     "authorization" JSONB;

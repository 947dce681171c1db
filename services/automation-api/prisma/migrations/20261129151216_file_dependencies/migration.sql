-- AlterTable
ALTER TABLE "artifacts" ADD COLUMN     "file_dependencies" JSONB;



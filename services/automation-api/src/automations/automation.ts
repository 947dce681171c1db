import type { Run } from '@gantry/run-engine';
import type { FileEntry } from '../artifacts/artifact';
import type { Artifact, Automation, AutomationVersion } from '../generated/prisma/client';
import { toApiStatus } from './run-status';

/** Builds the address of the automation's page. */
export const buildAutomationUrl = (dashboardUrl: string, automationId: string): string =>
  `${dashboardUrl}/a/${automationId}`;

const toAutomationSummary = (automation: Automation, dashboardUrl: string) => {
  const { id, name, description, status, schedule, currentVersion, visibility } = automation;
  return {
    id,
    name,
    description,
    status,
    schedule,
    currentVersion,
    visibility,
    url: buildAutomationUrl(dashboardUrl, id),
  };
};

export function toListItem(automation: Automation, lastRun: Run | undefined, dashboardUrl: string) {
  return {
    ...toAutomationSummary(automation, dashboardUrl),
    scheduleEnabled: automation.scheduleEnabled,
    createdAt: automation.createdAt.getTime(),
    lastRunStatus: lastRun ? toApiStatus(lastRun.status) : null,
    lastRunAt: lastRun ? lastRun.createdAt.getTime() : null,
    nextRunAt: automation.nextRunAt?.getTime() ?? null,
  };
}

export function toDetail(automation: Automation, artifact: Artifact, dashboardUrl: string) {
  return {
    ...toAutomationSummary(automation, dashboardUrl),
    entrypoint: artifact.entrypoint,
    fileList: artifact.files as FileEntry[],
    fileCount: artifact.fileCount,
    totalSize: artifact.totalSize,
    manifest: artifact.manifest,
    artifactId: artifact.id,
    scheduling: {
      enabled: automation.scheduleEnabled,
      timezone: automation.timezone,
      misfire: automation.misfire,
      inputs: automation.scheduleInputs,
      nextRunAt: automation.nextRunAt?.getTime() ?? null,
      lastScheduledAt: automation.lastScheduledAt?.getTime() ?? null,
      missedFires: automation.missedFires,
    },
    updatedAt: automation.updatedAt.getTime(),
  };
}

export interface VersionWithArtifact extends AutomationVersion {
  artifact: Pick<Artifact, 'entrypoint' | 'fileCount' | 'totalSize'>;
}

export function toVersion(version: VersionWithArtifact, currentVersion: number) {
  const { entrypoint, fileCount, totalSize } = version.artifact;
  return {
    version: version.version,
    current: version.version === currentVersion,
    artifactId: version.artifactId,
    message: version.message,
    entrypoint,
    fileCount,
    totalSize,
    createdBy: version.createdBy,
    createdAt: version.createdAt.getTime(),
  };
}

/** The response to a deploy, an update and a rollback. */
export function toDeploymentResponse(automation: Automation, dashboardUrl: string, warnings: string[]) {
  const { id, name, currentVersion, status } = automation;
  return { id, automationId: id, name, url: buildAutomationUrl(dashboardUrl, id), currentVersion, status, warnings };
}

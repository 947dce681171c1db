/** The services that have a database, and where its address is read from. */
export const databases = {
  'worker-api': { name: 'worker_api', variable: 'DATABASE_URL_WORKER' },
  'automation-api': { name: 'automation_api', variable: 'DATABASE_URL_AUTOMATION' },
  'skills-api': { name: 'skills_api', variable: 'DATABASE_URL_SKILLS' },
} as const;

export type ServiceName = keyof typeof databases;

export const serviceNames = Object.keys(databases) as ServiceName[];

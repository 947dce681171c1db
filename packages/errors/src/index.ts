export * from './errors';
export { formatIssues, formatProblem, type SchemaProblem } from './format-problem';

import type { RunMaterial, RunRecord } from '../run-record.js';

/** The whole task: the definition’s own, then the texts of the git host, whose quoted parts come last. */
export const taskOf = (
  { definition: { run } }: Pick<RunRecord, 'definition'>,
  { parts }: Pick<RunMaterial, 'parts'>,
): string => [run.task ?? '', ...parts].filter((part) => part !== '').join('\n\n');

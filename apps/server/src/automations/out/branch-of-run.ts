import { createHash } from 'node:crypto';
import { AppError, branchName, ownValue } from '@belay/protocol';
import type { RunRecord } from '../run-record.js';

/** The branch of a run’s pull request, the same each time. Throws `invalid_input` for a template that makes none. */
export function branchOfRun({ id, subject, definition }: RunRecord): string {
  const template = definition.out.pullRequest?.branch ?? '';
  const values: Record<string, string> = {
    subject: subject.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || 'run',
    salt: createHash('sha256').update(id).digest('hex').slice(0, 6),
  };
  const name = template.replaceAll(
    /\{(\w+)\}/g,
    (whole, field: string) => ownValue(values, field) ?? whole,
  );
  const { data } = branchName.safeParse(name.slice(0, 150));
  if (data !== undefined) return data;
  throw new AppError(
    'invalid_input',
    `“${name.slice(0, 150)}” is not a name of a branch: change out.pullRequest.branch.`,
  );
}

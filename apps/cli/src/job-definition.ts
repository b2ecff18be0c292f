import { AppError, type AutomationJob } from '@belay/protocol';
import type { GivenDefinition } from './commands/check-definition.js';
import { sourceParts } from './source-parts.js';

export interface JobOptions {
  job?: string | undefined;
  repository?: string | undefined;
  name?: string | undefined;
}

/** A job’s definition for a repository, and by another name if one is given. Throws `not_found`, or `invalid_input` for a missing repository. */
export function jobDefinition(
  jobs: readonly AutomationJob[],
  { job = '', repository, name }: JobOptions,
): GivenDefinition {
  const found = jobs.find((one) => one.name === job);
  if (!found)
    throw new AppError('not_found', `There is no job ${job}. See: belay automations jobs`);
  const isForOne = repositoryLine.test(found.text);
  if (isForOne && repository === undefined)
    throw new AppError(
      'invalid_input',
      `${job} works on a repository. Name it: --repository github.com/acme/api`,
    );
  if (!isForOne && repository !== undefined)
    throw new AppError(
      'invalid_input',
      `${job} works without a repository. Leave out --repository.`,
    );
  const named = name === undefined ? found.text : found.text.replace(nameLine, `$1${name}`);
  return {
    file: `${name ?? job}.yaml`,
    text: repository === undefined ? named : on(named, repository),
  };
}

// Jobs come with the server, each key of `on` in a line of its own or in one with braces.
const nameLine = /^(name: *)\S+/m;
const hostLine = /((?:^|[{,]) *host: *)[^\s,}]+/m;
const repositoryLine = /((?:^|[{,]) *repository: *)(['"]?(https:)?[^\s,}]+)/m;

function on(text: string, repository: string): string {
  const { host, path } = sourceParts(repository);
  return text
    .replace(hostLine, (_, before: string) => `${before}${host}`)
    .replace(repositoryLine, (_, before: string, _old: string, https: string | undefined) =>
      https === undefined ? `${before}${path}` : `${before}https://${host}/${path}`,
    );
}

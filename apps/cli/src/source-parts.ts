import { AppError, gitHostName, repositoryPath } from '@belay/protocol';

/** The host and the path of a repository, given as `github.com/acme/api` or as its address. Throws `invalid_input`. */
export function sourceParts(given: string): { host: string; path: string } {
  const [, host, path] = /^(?:https?:\/\/)?([^/]+)\/(.+?)(?:\.git)?\/*$/.exec(given.trim()) ?? [];
  if (gitHostName.safeParse(host).success && repositoryPath.safeParse(path).success)
    return { host: host ?? '', path: path ?? '' };
  throw new AppError(
    'invalid_input',
    `${given} is not a repository: write HOST/REPOSITORY, such as github.com/acme/api.`,
  );
}

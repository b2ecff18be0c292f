import {
  globMatcher,
  pluralText,
  type AutomationDefinition,
  type PreparedPublish,
} from '@belay/protocol';
import { isCiFile } from '../../git/is-ci-file.js';

export type PublishLimits = Pick<
  NonNullable<AutomationDefinition['out']['pullRequest']>,
  'files' | 'bytes' | 'paths' | 'ciFiles'
>;

/** Of a push onto a branch of others. */
export const usualLimits: PublishLimits = {
  files: 100,
  bytes: 4 * 2 ** 20,
  paths: ['**'],
  ciFiles: 'refuse',
};

/** Why these files are not published, in a sentence; null if they may be. */
export function refusedFiles(
  files: PreparedPublish['files'],
  limits: PublishLimits,
): string | null {
  const paths = files.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  const own = paths.find(isDefinition);
  if (own !== undefined)
    return `It changes ${own}: definitions of automations are changed by users alone.`;
  if (limits.ciFiles === 'refuse') {
    const ci = paths.find(isCiFile);
    if (ci !== undefined)
      return `It changes ${ci}, which would run on the git host with its secrets. Allow that with out.pullRequest.ciFiles, or publish it yourself.`;
  }
  if (files.length > limits.files)
    return `It changes ${pluralText(files.length, 'file')}, more than out.pullRequest.files allows.`;
  const allowed = limits.paths.map((glob) => globMatcher(glob, { anchored: true }));
  const other = paths.find((path) => !allowed.some((fits) => fits(path)));
  if (other !== undefined) return `It changes ${other}, which is not among out.pullRequest.paths.`;
  return null;
}

/** Whatever its case, as some file systems have none. */
const isDefinition = (path: string): boolean => /^\.belay\/automations(?:\/|$)/i.test(path);

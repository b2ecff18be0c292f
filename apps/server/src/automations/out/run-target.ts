import { isForgeTrigger } from '@belay/protocol';
import { hostOf } from '../../git/git-hosts.js';
import { repositoryAddress } from '../../git/repository-address.js';
import type { ForgeSubject } from '../forges/forge.js';
import type { RunRecord } from '../run-record.js';

type Target = Pick<RunRecord, 'definition' | 'occurrence' | 'findings'>;

/** The repository that a run is about, as its host names it; null if it is about none. */
export function repositoryOf({
  definition: { on },
}: Pick<RunRecord, 'definition'>): { host: string; path: string } | null {
  if (isForgeTrigger(on)) return { host: on.host, path: on.repository };
  const url = 'repository' in on ? on.repository : undefined;
  if (url === undefined) return null;
  const address = repositoryAddress(url);
  return { host: hostOf(address), path: address.path.replace(/\.git$/, '') };
}

/** The issue or pull request that a run is about; null if it is about none. */
export function forgeSubjectOf({ definition, occurrence, findings }: Target): ForgeSubject | null {
  const { event, number } = occurrence;
  if (number === undefined || !isForgeTrigger(definition.on)) return null;
  return { number, isPull: /^(?:pull|checks)\./.test(event) || findings.base !== null };
}

export const targetOf = ({ number, isPull }: ForgeSubject): string =>
  `${isPull ? 'pull' : 'issue'}:${number}`;

/** The subject of a target; null for another kind of target. */
export function subjectNamed(target: string): ForgeSubject | null {
  const [, kind, number] = /^(issue|pull):(\d+)$/.exec(target) ?? [];
  return number === undefined ? null : { number: Number(number), isPull: kind === 'pull' };
}

/** Part of everything that a run writes to a host, by which it finds its own texts again. */
export const markerOf = (run: string): string => `<!-- belay:run:${run} -->`;

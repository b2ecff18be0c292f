import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { forgeEvent, isForgeTrigger, type ForgeTrigger, type Occurrence } from '@belay/protocol';
import { KeyedMutex } from '../../storage/keyed-mutex.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import type { Forge, ForgeCheck } from '../forges/forge.js';
import { ForgeSources } from '../forges/forge-sources.js';
import { Forges } from '../forges/forges.js';
import { eventKey } from './event-keys.js';
import { labelsSet } from './polling/gitea-timeline.js';

/** What a question has come to: occurrences, or why there are none. */
export interface ForgeAnswer {
  readonly found: readonly Occurrence[];
  readonly why: string;
}

/**
 * What a webhook only hints at is asked from its host. A red check says nothing yet: others may still run, and the host’s
 * own list decides.
 */
@Injectable()
export class ForgeQuestions {
  readonly #mutex = new KeyedMutex();
  /** Questions that are not sent yet: what comes meanwhile shares their answer. */
  readonly #waiting = new Map<string, Promise<ForgeAnswer>>();

  constructor(
    private readonly automations: AutomationsStore,
    private readonly sources: ForgeSources,
    private readonly forges: Forges,
  ) {}

  /** Throws the host’s error, after which it may be asked again. */
  async answer(source: string, asked: Occurrence): Promise<ForgeAnswer> {
    const row = await this.sources.find(source);
    if (!row) return none('The repository is not followed any more.');
    const events = await this.#eventsOf(row.host, row.repository);
    const isWanted = sameKind(asked.event).some((event) => events.has(event));
    if (!isWanted) return none(notWanted(asked.event));
    const key = `${source} ${asked.key}`;
    const known = this.#waiting.get(key);
    if (known) return known;
    const answered = this.#mutex.run(source, () => {
      this.#waiting.delete(key);
      return ask(this.forges.open(row.host, row.repository), asked);
    });
    this.#waiting.set(key, answered);
    return answered;
  }

  async #eventsOf(host: string, repository: string): Promise<Set<Occurrence['event']>> {
    const triggers = await forgeTriggers(this.automations, host, repository);
    return new Set<Occurrence['event']>(triggers.flatMap(({ event }) => event));
  }
}

/** The triggers of automations that are on, of one repository. */
export async function forgeTriggers(
  automations: AutomationsStore,
  host: string,
  repository: string,
): Promise<ForgeTrigger[]> {
  const all = await automations.list();
  return all.flatMap(({ state, definition: { on } }) =>
    state === 'on' && isForgeTrigger(on) && on.host === host && isSame(on.repository, repository)
      ? [on]
      : [],
  );
}

/** Hosts do not distinguish the case of a repository’s name. */
const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const notWanted = (event: Occurrence['event']): string =>
  forgeEvent.safeParse(event).success
    ? `No automation that is on begins with ${event} of this repository.`
    : 'The automation is not on.';

const none = (why: string): ForgeAnswer => ({ found: [], why });

/** What a question about an event may come to. */
export const sameKind = (event: Occurrence['event']): Occurrence['event'][] =>
  event.startsWith('checks.') ? ['checks.failed', 'checks.passed'] : [event];

function ask(forge: Forge, asked: Occurrence): Promise<ForgeAnswer> {
  return asked.event.startsWith('checks.') ? askAllChecks(forge, asked) : labelsSet(forge, asked);
}

/** The verdict of all checks of the commit that is named; throws the host’s error. */
export async function askAllChecks(forge: Forge, asked: Occurrence): Promise<ForgeAnswer> {
  const { sha } = asked;
  if (sha === undefined) return none('It names no commit.');
  const verdict = verdictOf(await forge.checks(sha));
  const short = sha.slice(0, 12);
  if (verdict === 'none') return none(`The host lists no checks of ${short}.`);
  if (verdict === 'pending') return none(`Other checks of ${short} are still running.`);
  const pulls = asked.number === undefined ? await forge.pullsAt(sha) : [];
  const [pull] = pulls;
  const branch = asked.branch ?? pull?.branch;
  return {
    found: [
      {
        ...asked,
        event: `checks.${verdict.state}`,
        key: eventKey('checks', sha, verdict.state, hashOf(verdict.names)),
        ...(pull && { number: pull.number }),
        ...(branch !== undefined && { branch }),
      },
    ],
    why: '',
  };
}

type Verdict = 'none' | 'pending' | { state: 'failed' | 'passed'; names: string[] };

/** An empty list is neither red nor green, and so is one of skipped checks alone. */
export function verdictOf(checks: readonly ForgeCheck[]): Verdict {
  const named = (state: ForgeCheck['state']): string[] =>
    checks.filter((check) => check.state === state).map(({ name }) => name);
  if (named('pending').length > 0) return 'pending';
  const [failed, passed] = [named('failed'), named('passed')];
  if (failed.length > 0) return { state: 'failed', names: failed };
  return passed.length > 0 ? { state: 'passed', names: passed } : 'none';
}

const hashOf = (names: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([...new Set(names)].toSorted()))
    .digest('hex')
    .slice(0, 16);

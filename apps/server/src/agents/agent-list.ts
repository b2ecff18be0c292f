import { Injectable } from '@nestjs/common';
import type { AgentChoice, CustomAgent } from '@belay/protocol';
import { seesAll, userOf, type Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import { AgentInstaller } from './agent-installer.js';
import { lockedVersion } from './agent-lock.js';
import { AgentStore } from './agent.store.js';
import { customEntry } from './custom-entry.js';
import { InstallableAgents } from './installable-agents.js';
import { SignInStore } from './sign-in.store.js';
import type { AgentEntry } from './agent-entry.js';

/**
 * The agents that sessions can be started with, as a caller sees them: without values of variables and, if it sees only
 * some sessions, without commands.
 */
@Injectable()
export class AgentList {
  constructor(
    private readonly store: AgentStore,
    private readonly installable: InstallableAgents,
    private readonly installer: AgentInstaller,
    private readonly log: EventLog,
    private readonly signIns: SignInStore,
  ) {}

  /** Those of the table first, each group sorted by title. */
  async all(caller: Caller): Promise<AgentChoice[]> {
    const counts = await this.#sessions();
    const known = this.installable.all.map(({ entry, lock }): AgentChoice => ({
      ...shown(entry),
      kind: 'installable',
      licence: entry.licence,
      ...(entry.login && { login: this.#loginOf(entry.name, caller) }),
      ...this.installer.progress(entry.name),
      version: this.store.current(entry.name)?.version ?? null,
      newest: lockedVersion(lock),
      sessions: seesAll(caller) ? (counts.get(entry.name) ?? 0) : 0,
      command: [],
      variables: [],
    }));
    const custom = this.store.custom.map((agent) => {
      const whole = this.#custom(agent, counts);
      return seesAll(caller) ? whole : { ...whole, command: [], variables: [], sessions: 0 };
    });
    const byTitle = (a: AgentChoice, b: AgentChoice): number =>
      a.title.localeCompare(b.title, 'en');
    return [...known.toSorted(byTitle), ...custom.toSorted(byTitle)];
  }

  async named(name: string, caller: Caller): Promise<AgentChoice> {
    const found = (await this.all(caller)).find((one) => one.name === name);
    if (!found) throw new Error(`${name} is not listed`);
    return found;
  }

  #loginOf(agent: string, caller: Caller): AgentChoice['login'] {
    return this.signIns.find({ user: userOf(caller), agent }) ? 'kept' : 'possible';
  }

  #custom(agent: CustomAgent, counts: ReadonlyMap<string, number>): AgentChoice {
    return {
      ...shown(customEntry(agent)),
      kind: 'custom',
      licence: null,
      state: 'ready',
      bytes: { done: 0, total: 0 },
      error: null,
      version: null,
      newest: null,
      sessions: counts.get(agent.name) ?? 0,
      command: agent.command,
      variables: Object.keys(agent.env),
    };
  }

  async #sessions(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { agent } of await this.log.summaries())
      if (agent) counts.set(agent.name, (counts.get(agent.name) ?? 0) + 1);
    return counts;
  }
}

const shown = ({ name, title, about, protocols, formats, transcripts }: AgentEntry) => ({
  name,
  title,
  about,
  protocols: [...protocols],
  formats: [...formats],
  ...(transcripts && { transcripts: transcripts.place }),
});

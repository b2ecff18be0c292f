import {
  excerpt,
  hostSetIn,
  hostsOfSet,
  isEnded,
  packageRegistries,
  type EgressPolicy,
} from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';
import { connectionSentence, type EgressConnection } from './egress-journal.js';

type Target = Pick<EgressConnection, 'session' | 'host' | 'port'>;

interface Refusal {
  /** The last connection; null while the user is asked. */
  connection: EgressConnection | null;
  count: number;
}

interface Refusals {
  byHost: Map<string, Refusal>;
  /** The number of connections to further hosts. */
  others: number;
}

/** Hosts listed for one session; connections to others are only counted. */
const mostHosts = 8;
const longestLine = 400;
const longestOpen = 1_000;
/** Only names and addresses of requested hosts are passed on to the model; other text from the sandbox is not. */
const plainHost = /^[\w.:-]{1,253}$/;

/** Connections that were refused, kept for the model until its next result. */
export class RefusalReport {
  readonly #sessions = new Map<string, Refusals>();
  readonly #unsubscribe: () => void;

  constructor(events: EventLog) {
    this.#unsubscribe = events.subscribeAll((session, _events, { state }) => {
      if (isEnded(state)) this.#sessions.delete(session);
    });
  }

  add(connection: EgressConnection): void {
    this.#put(connection, connection);
  }

  /** The user is asked about a host; until `answered`, connections to it wait. */
  asked(target: Target): void {
    this.#put(target, null);
  }

  answered({ session, host, port }: Target): void {
    const byHost = this.#sessions.get(session)?.byHost;
    const key = `${host}:${port}`;
    if (byHost?.get(key)?.connection === null) byHost.delete(key);
  }

  #put({ session, host, port }: Target, connection: EgressConnection | null): void {
    const known = this.#sessions.get(session) ?? { byHost: new Map(), others: 0 };
    this.#sessions.set(session, known);
    const key = `${host}:${port}`;
    const count = (known.byHost.get(key)?.count ?? 0) + 1;
    const fits = known.byHost.size < mostHosts || known.byHost.has(key);
    if (fits && plainHost.test(host)) known.byHost.set(key, { connection, count });
    else if (connection) known.others += 1;
  }

  /** The refusals since the last call, in the words that the user sees, and the allowed hosts; null for none. */
  take(session: string, policy: EgressPolicy): string | null {
    const known = this.#sessions.get(session);
    if (!known) return null;
    this.#sessions.delete(session);
    const { byHost, others } = known;
    if (byHost.size === 0 && others === 0) return null;
    const lines = [...byHost].map(([key, { connection, count }]) => {
      const what = connection
        ? connectionSentence(connection, count)
        : `${key} waits: the user is asked whether it may be reached.`;
      return excerpt(`- ${what.replaceAll(/\s+/g, ' ')}`, longestLine);
    });
    if (others > 0) lines.push(`- ${others} more connections.`);
    return ['Connections that were not opened:', ...lines, openHosts(policy)].join('\n');
  }

  close(): void {
    this.#unsubscribe();
  }
}

function inFull(entry: string): string {
  const set = hostSetIn(entry);
  return set ? `${entry} (${hostsOfSet(set).join(', ')})` : entry;
}

/** A sentence with the hosts that a policy allows. */
function openHosts({ profile, hosts }: EgressPolicy): string {
  const named = excerpt(hosts.map(inFull).join(', '), longestOpen);
  if (profile === 'none') return 'This session has no network: nothing is open.';
  if (profile === 'open') return 'Every public host is open; private networks never are.';
  if (profile === 'packages') {
    const more = named ? `, and ${named}` : '';
    return `Open: ${packageRegistries}${more}.`;
  }
  return named ? `Open: only ${named}.` : 'No host is open.';
}

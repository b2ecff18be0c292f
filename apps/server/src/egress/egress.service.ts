import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { closeNetworks, isPublicAddress } from '@belay/host';
import { AppError, type ApprovalVerdict, type EventArgs } from '@belay/protocol';
import type { RpcStream } from '@belay/rpc';
import { ApprovalService } from '../approvals/approval.service.js';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { relayConnection } from './relay-connection.js';
import { dialDirect, dialProxy, hostProxy } from './dial.js';
import { connectionSentence, EgressJournal } from './egress-journal.js';
import { hostRegistries } from './host-registries.js';
import { isOneOf, normalHost, permissionOf, type EgressTarget, type Permission } from './policy.js';
import { RefusalReport } from './refusal-report.js';
import { RefusedHosts } from './refused-hosts.js';
import { Resolver } from './resolver.js';
import { SessionConnections, type Slot } from './session-connections.js';

/** A program in a container of its own. */
export interface ProgramEgress {
  /** The name used in messages. */
  name: string;
  session: string | null;
  /** Patterns as in a session’s policy. */
  hosts: readonly string[];
  /** Called with the reason of each refusal. */
  refused?: ((reason: string) => void) | undefined;
}

/** Connections out of the sandboxes: checked against the session’s policy, then piped both ways. */
@Injectable()
export class EgressService implements BeforeApplicationShutdown {
  readonly #logger = new Logger(EgressService.name);
  readonly #journal: EgressJournal;
  readonly #refused: RefusedHosts;
  readonly #report: RefusalReport;
  readonly #connections: SessionConnections;
  readonly #open = new Map<Duplex, Promise<void>>();
  #registries: Promise<EgressTarget[]> | undefined;

  constructor(
    private readonly events: EventLog,
    approvals: ApprovalService,
    private readonly config: Config,
    private readonly resolver: Resolver,
    store: SessionsStore,
  ) {
    closeNetworks(config.closedNetworks);
    this.#journal = new EgressJournal(events);
    this.#refused = new RefusedHosts(approvals, store);
    this.#connections = new SessionConnections(events);
    this.#report = new RefusalReport(events);
  }

  /**
   * Resolves once the connection is open; bytes then flow until both sides have ended. Throws `rejected` for a
   * refused host (after up to a minute in which the user may allow it), `unavailable` when it cannot
   * be reached. Every connection ends in an `egress` event.
   */
  async connect(session: string, target: EgressTarget, stream: RpcStream): Promise<void> {
    const take = await this.#opened(target, {
      slot: () => this.#connections.open(session),
      admit: (wanted) => this.#admit(session, wanted),
      journal: (connection) => this.#journal.add({ session, ...connection }),
      refused: (connection) => this.#report.add({ session, ...connection }),
    });
    take(stream);
  }

  /**
   * Like `connect`, for a program in a container of its own: it can reach its `hosts`, and nobody is asked. The
   * function that it returns takes over the stream. The connection belongs to the program’s session, if it has one.
   */
  async connectProgram(
    program: ProgramEgress,
    target: EgressTarget,
  ): Promise<(stream: Duplex) => void> {
    const { session, name, refused } = program;
    return this.#opened(target, {
      slot: async () => (session === null ? ownSlot : this.#connections.open(session)),
      admit: (wanted) => this.#admitProgram(program, wanted),
      journal: (connection) => {
        if (session !== null) this.#journal.add({ session, ...connection });
        else this.#logger.log(`${name}: ${connectionSentence(connection, 1)}`);
      },
      refused: ({ reason }) => refused?.(reason ?? 'A connection was refused.'),
    });
  }

  async #opened(target: EgressTarget, origin: Origin): Promise<(stream: Duplex) => void> {
    const { port } = target;
    const host = normalHost(target.host);
    const told = { host: host ?? target.host, port };
    let slot: Slot | undefined;
    let permission: Permission;
    let outside: Duplex;
    try {
      slot = await origin.slot();
      if (host === undefined) throw new AppError('rejected', 'The host name is not valid.');
      // Private addresses are refused without a question. Names are resolved only once they are allowed, because a DNS
      // lookup can leak secrets.
      if (isIP(host) || /(^|\.)localhost$/.test(host)) await this.#addressesOf({ host, port });
      permission = await origin.admit({ host, port });
      outside = await this.#dial({ host, port });
    } catch (error) {
      slot?.release();
      if (error instanceof AppError) {
        origin.journal({ ...told, ...failed(error) });
        if (slot) origin.refused({ ...told, ...failed(error) });
      }
      throw error;
    }
    const allowed = { told, slot, permission };
    return (stream) => this.#relay(stream, outside, { ...allowed, origin });
  }

  /** Throws `rejected` when the session allows no network access, not even by the server on its behalf. */
  async requireNetwork(session: string): Promise<void> {
    const { egress } = await this.events.settings(session);
    if (egress.profile !== 'none') return;
    throw new AppError(
      'rejected',
      'This session has the egress profile none, so no host can be reached.',
    );
  }

  /**
   * A report for the session’s model: the connections refused since the last report, and the allowed hosts; null if
   * none were refused.
   */
  async report(session: string): Promise<string | null> {
    const { egress } = await this.events.settings(session);
    return this.#report.take(session, egress);
  }

  /** Writes pending events of ended connections. */
  flush(): Promise<void> {
    return this.#journal.flush();
  }

  /** Connections end with the server; each is logged before the database closes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#connections.close();
    this.#report.close();
    for (const outside of this.#open.keys()) outside.destroy();
    await Promise.all(this.#open.values());
    await this.#journal.close();
  }

  #relay(stream: Duplex, outside: Duplex, { told, slot, permission, origin }: Allowed): void {
    const close = (): void => {
      stream.destroy();
      outside.destroy();
    };
    try {
      slot.onEnd(close);
    } catch (error) {
      outside.destroy();
      slot.release();
      throw error;
    }
    const gate = (): Promise<void> | undefined => slot.gate();
    const onRefused = (reason: string): void =>
      origin.refused({ ...told, verdict: 'refused', reason, sent: 0, received: 0 });
    const moved = relayConnection(stream, outside, {
      target: told,
      permission,
      gate,
      onRefused,
    }).then(({ refusal, ...flow }) => {
      const verdict = refusal === null ? 'allowed' : 'refused';
      origin.journal({ ...told, verdict, reason: refusal, ...flow });
      this.#open.delete(outside);
      slot.release();
    });
    this.#open.set(outside, moved);
  }

  /** Throws `rejected` unless the policy or the user allows the target. */
  async #admit(session: string, target: EgressTarget): Promise<Permission> {
    const { egress } = await this.events.settings(session);
    const permission = permissionOf(egress, target, await this.#hostRegistries());
    if (permission) return permission;
    const name = `${target.host}:${target.port}`;
    const refusal = `The egress profile ${egress.profile} of this session does not allow ${name}`;
    if (egress.profile === 'none') throw new AppError('rejected', `${refusal}.`);
    this.#report.asked({ session, ...target });
    const answer = await this.#refused
      .ask(session, target)
      .finally(() => this.#report.answered({ session, ...target }));
    if (answer?.verdict === 'approved') return 'any';
    throw new AppError('rejected', `${refusal}: ${whyRefused(answer)}.`);
  }

  /** Throws `rejected` unless the program declares the target and its session allows network access. */
  async #admitProgram(
    { name, session, hosts }: ProgramEgress,
    target: EgressTarget,
  ): Promise<Permission> {
    if (session !== null) await this.requireNetwork(session);
    const policy = { profile: 'list' as const, hosts: [...hosts] };
    const permission = permissionOf(policy, target, []);
    if (permission) return permission;
    const refusal = `${name} may not reach ${target.host}:${target.port}`;
    throw new AppError('rejected', `${refusal}, which is not among the hosts that it declares.`);
  }

  async #dial(target: EgressTarget): Promise<Duplex> {
    const proxy = hostProxy(this.config.environment, target);
    const addresses = await this.#addressesOf(target);
    if (proxy) return dialProxy(proxy, target);
    if (addresses.length > 0) return dialDirect(addresses, target);
    throw new AppError('unavailable', `There is no host ${target.host}; check the name.`);
  }

  /** The allowed addresses of a name; empty for an unknown name. Throws `rejected` when all of them are forbidden. */
  async #addressesOf(target: EgressTarget): Promise<string[]> {
    const { host, port } = target;
    const addresses = await this.resolver.addresses(host);
    const trusted = isOneOf(await this.#hostRegistries(), target);
    const open = trusted ? addresses : addresses.filter(isPublicAddress);
    if (open.length > 0 || addresses.length === 0) return open;
    throw new AppError(
      'rejected',
      `${host}:${port} is at ${addresses.join(', ')}, in a private, reserved or closed network, which no sandbox may reach.`,
    );
  }

  #hostRegistries(): Promise<EgressTarget[]> {
    this.#registries ??= hostRegistries(this.config.environment);
    return this.#registries;
  }
}

/** Who refused the connection, and why; with the user’s own words if there are any. */
function whyRefused(answer: ApprovalVerdict | null): string {
  if (!answer) return 'the user has not decided yet';
  if (answer.by === 'rule') return 'a rule of the user rejects it';
  return answer.reason?.replace(/\.$/, '') ?? 'the user refused it';
}

type Connection = EventArgs<'egress'>;

/** The owner of a connection, which limits, decides on and records it. */
interface Origin {
  slot(): Promise<Slot>;
  admit(target: EgressTarget): Promise<Permission>;
  /** Called once, at its end. */
  journal(connection: Connection): void;
  /** Called before the requester notices. */
  refused(connection: Connection): void;
}

interface Allowed {
  told: EgressTarget;
  slot: Slot;
  permission: Permission;
  origin: Origin;
}

/** For a program without a session: its connections end with its container. */
const ownSlot: Slot = { gate: () => undefined, onEnd: () => {}, release: () => {} };

const failed = ({ code, message }: AppError) => ({
  verdict: code === 'rejected' ? ('refused' as const) : ('failed' as const),
  reason: message,
  sent: 0,
  received: 0,
});

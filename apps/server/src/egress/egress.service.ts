import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import type { RopeStream } from '@belay/rope';
import { ApprovalService } from '../approvals/approval.service.js';
import { Config } from '../config.js';
import { EventLog } from '../logs/event-log.js';
import { isPublicAddress } from './addresses.js';
import { dialDirect, dialProxy, hostProxy } from './dial.js';
import { EgressJournal } from './egress-journal.js';
import { hostRegistries } from './host-settings.js';
import { isAllowed, isOneOf, normalHost, type Target } from './policy.js';
import { pump } from './pump.js';
import { RefusedHosts } from './refused-hosts.js';
import { Resolver } from './resolver.js';

/** Connections out of the sandboxes: checked against the session's policy, then piped both ways. */
@Injectable()
export class EgressService implements BeforeApplicationShutdown {
  private readonly journal: EgressJournal;
  private readonly refused: RefusedHosts;
  private readonly open = new Map<Duplex, Promise<void>>();
  private registries: Promise<Target[]> | undefined;

  constructor(
    private readonly events: EventLog,
    approvals: ApprovalService,
    private readonly config: Config,
    private readonly resolver: Resolver,
  ) {
    this.journal = new EgressJournal(events);
    this.refused = new RefusedHosts(approvals);
  }

  /**
   * Resolves once the connection is open; bytes then flow until both sides have ended. Throws `rejected` for a
   * refused host (after up to a minute in which a person may allow it), `unavailable` when it cannot
   * be reached. Every connection ends in an `egress` event.
   */
  async connect(session: string, target: Target, stream: RopeStream): Promise<void> {
    const { port } = target;
    const host = normalHost(target.host);
    const told = { session, host: host ?? target.host, port };
    let outside: Duplex;
    try {
      if (host === undefined) throw new AppError('rejected', 'That is not the name of a host.');
      // Before anybody is asked: no answer opens these. Names are looked up only once they are allowed, for a
      // lookup alone can carry secrets out.
      if (isIP(host) || /(^|\.)localhost$/.test(host)) await this.addressesOf({ host, port });
      await this.admit(session, { host, port });
      outside = await this.dial({ host, port });
    } catch (error) {
      if (error instanceof AppError) {
        const verdict = error.code === 'rejected' ? 'refused' : 'failed';
        this.journal.add({ ...told, verdict, reason: error.message, sent: 0, received: 0 });
      }
      throw error;
    }
    const moved = pump(stream, outside).then((flow) => {
      this.journal.add({ ...told, verdict: 'allowed', reason: null, ...flow });
      this.open.delete(outside);
    });
    this.open.set(outside, moved);
  }

  /** Writes the events of ended connections that wait to be summed. */
  flush(): Promise<void> {
    return this.journal.flush();
  }

  /** Connections end with the server; each is in the log before the database closes. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const outside of this.open.keys()) outside.destroy();
    await Promise.all(this.open.values());
    await this.journal.close();
  }

  /** Throws `rejected` unless the policy or a person lets the target pass. */
  private async admit(session: string, target: Target): Promise<void> {
    const { egress } = await this.events.settings(session);
    if (isAllowed(egress, target, await this.hostRegistries())) return;
    const name = `${target.host}:${target.port}`;
    const refusal = `The egress profile ${egress.profile} of this session does not allow ${name}`;
    if (egress.profile === 'none') throw new AppError('rejected', `${refusal}.`);
    const answer = await this.refused.ask(session, target);
    if (answer?.verdict === 'approved') return;
    const reason = answer ? (answer.reason ?? 'it was refused') : 'nobody has allowed it yet';
    throw new AppError('rejected', `${refusal}: ${reason.replace(/\.$/, '')}.`);
  }

  private async dial(target: Target): Promise<Duplex> {
    const proxy = hostProxy(this.config.environment, target);
    const addresses = await this.addressesOf(target);
    if (proxy) return dialProxy(proxy, target);
    if (addresses.length > 0) return dialDirect(addresses, target);
    throw new AppError('unavailable', `There is no host ${target.host}; check the name.`);
  }

  /** Those that may be connected to; none when the name is not known here. Throws `rejected` when all are closed. */
  private async addressesOf(target: Target): Promise<string[]> {
    const { host, port } = target;
    const addresses = await this.resolver.addresses(host);
    const trusted = isOneOf(await this.hostRegistries(), target);
    const open = trusted ? addresses : addresses.filter(isPublicAddress);
    if (open.length > 0 || addresses.length === 0) return open;
    throw new AppError(
      'rejected',
      `${host}:${port} is at ${addresses.join(', ')}, in a private or reserved network, which no sandbox may reach.`,
    );
  }

  private hostRegistries(): Promise<Target[]> {
    this.registries ??= hostRegistries(this.config.environment);
    return this.registries;
  }
}

import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { fact, isEnded, isFact, type Event, type SessionSummary } from '@belay/protocol';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { stateMessage } from '../logs/consequences.js';
import { EventLog } from '../logs/event-log.js';
import { Exports } from './exports.js';
import { Launcher } from './launcher.js';

/** How long sandboxes may take to be found after the engine has come back. */
const adoptionMs = 10_000;
const lookMs = 500;

/** Follows what happens to sandboxes by themselves: the server's start, a lost agent, the end of the work. */
@Injectable()
export class Recovery implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(Recovery.name);
  private closing = false;

  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly launcher: Launcher,
    private readonly exports: Exports,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.sandboxes.onLost((session, reason) => {
      this.lost(session, reason).catch((error: unknown) => this.logger.error(error));
    });
    this.log.subscribeAll((session, events) => this.follow(session, events));
    for (const summary of await this.log.summaries()) {
      void this.adopt(summary).catch((error: unknown) => this.logger.error(error));
    }
  }

  onModuleDestroy(): void {
    this.closing = true;
  }

  /** Sessions go on where they were when their sandbox is there; a sentence says so when it is not. */
  private async adopt({ id, state }: SessionSummary): Promise<void> {
    if (isEnded(state)) {
      if (this.sandboxes.state(id) === 'none') return;
      this.launcher.adopt(id);
      if (state === 'stopped') await this.launcher.halt(id);
      else this.launcher.linger(id);
      return;
    }
    const isFound = await this.isFoundAgain(id);
    if (this.closing) return;
    if (isFound) {
      this.launcher.adopt(id);
      await this.launcher.become(id, 'running', null);
    } else if (state === 'starting') {
      this.launcher.launch(id);
    } else {
      await this.lost(id, 'Its sandbox was gone when the server started.');
    }
  }

  /** While the engine is away nothing is known of its sandboxes: it is waited for. */
  private async isFoundAgain(session: string): Promise<boolean> {
    let patience = 0;
    while (this.sandboxes.state(session) === 'none' && !this.closing) {
      const [engine] = await this.sandboxes.checks();
      if (!engine?.ok) patience = adoptionMs;
      else if (patience <= 0) return this.sandboxes.state(session) !== 'none';
      await new Promise((resolve) => setTimeout(resolve, lookMs).unref());
      patience -= lookMs;
    }
    return true;
  }

  private async lost(session: string, reason: string): Promise<void> {
    const stated = /[.!?]$/.test(reason) ? reason : `${reason}.`;
    const args = { state: 'failed' as const, reason: `${stated} Restart the session to go on.` };
    try {
      const fail = () =>
        this.log.append(session, ({ state }) =>
          isEnded(state) ? [] : [fact('server', 'state', { args, message: stateMessage(args) })],
        );
      await this.log.stalls.whenRoom(session, fail);
    } finally {
      this.launcher.release(session);
    }
  }

  private follow(session: string, events: Event[]): void {
    const last = events.findLast((event) => isFact(event, 'state'));
    if (!last || !isFact(last, 'state')) return;
    const { state } = last.args;
    if (!isEnded(state) || state === 'stopped') return;
    this.launcher.linger(session);
    this.exports.keepPatch(session).catch((error: unknown) => this.logger.warn(error));
  }
}

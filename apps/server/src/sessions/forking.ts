import { Injectable } from '@nestjs/common';
import {
  AppError,
  fact,
  isEnded,
  isFact,
  type Event,
  type forkRequest,
  type rewindRequest,
  type SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import { ModelGateway } from '../models/model-gateway.js';
import { Dispatcher } from './dispatcher.js';
import { EventLog } from '../logs/event-log.js';
import { Exports } from './exports.js';
import { Launcher } from './launcher.js';
import { SessionStore } from '../logs/session.store.js';
import { newSessionId, startFact } from './session.service.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { WorkspaceStore } from './workspace.store.js';

export interface Rewound {
  files: { path: string; status: string }[];
  messages: number;
}

/** Ways back: another session from any step, or this one as it was. */
@Injectable()
export class Forking {
  constructor(
    private readonly log: EventLog,
    private readonly store: SessionStore,
    private readonly terminals: TerminalLog,
    private readonly models: ModelGateway,
    private readonly workspaces: WorkspaceStore,
    private readonly launcher: Launcher,
    private readonly exports: Exports,
    private readonly dispatcher: Dispatcher,
  ) {}

  /** A new session with the log up to `seq`, its files as of that step, and a sandbox of its own. */
  async fork(
    from: string,
    { seq, model, message }: z.output<typeof forkRequest>,
  ): Promise<SessionSummary> {
    const summary = await this.checkedStep(from, seq);
    const old = await this.log.settings(from);
    const title = `${summary.title.slice(0, 190)} (fork)`;
    const settings = { ...old, title, model: model ?? old.model };
    await this.models.check(settings.model);
    const id = newSessionId();
    try {
      await this.copyFiles(from, id, { seq, workspace: old.workspace });
      const copied = await this.log.read(from, { after: 0, limit: seq });
      for (const [terminal, bytes] of printedUpTo(copied)) {
        await this.terminals.copy(from, id, terminal, bytes);
      }
      const forked = `Goes on from step ${seq} of “${summary.title}”.`;
      await this.log.create(id, settings, {
        copied,
        events: [
          fact('server', 'fork', { args: { session: from, seq }, message: forked }),
          startFact(settings, true),
          ...(message ? [fact('user', 'message', { args: message, message: message.text })] : []),
        ],
      });
    } catch (error) {
      await this.workspaces.removeSeed(id);
      await this.terminals.remove(id);
      throw error;
    }
    this.launcher.launch(id);
    return this.log.summary(id);
  }

  /** What follows `seq` no longer counts. A preview changes nothing. */
  async rewind(
    session: string,
    { seq, what, preview }: z.output<typeof rewindRequest>,
  ): Promise<Rewound> {
    const { state, lastSeq } = await this.checkedStep(session, seq);
    const files = what === 'conversation' ? [] : await this.rewindFiles(session, seq, preview);
    const later = await this.log.read(session, { after: seq });
    const messages =
      what === 'files'
        ? 0
        : later.filter(({ action }) => action === 'say' || action === 'message').length;
    if (preview || seq === lastSeq) return { files, messages };
    const message = `Rewound ${what === 'both' ? 'files and conversation' : what} to step ${seq}.`;
    await this.log.append(session, [fact('user', 'rewind', { args: { seq, what }, message })]);
    if (!isEnded(state) && what !== 'files') this.launcher.linger(session);
    return { files, messages };
  }

  private async rewindFiles(session: string, seq: number, preview: boolean) {
    const commit = await this.commitAt(session, seq);
    if (!commit) return [];
    await this.launcher.wakeIfGone(session);
    const output = await this.dispatcher.call(session, {
      name: 'workspace.rewind',
      input: { commit, preview },
      role: 'person',
    });
    return (output as { files: Rewound['files'] }).files;
  }

  private async copyFiles(
    from: string,
    to: string,
    { seq, workspace }: { seq: number; workspace: string | null },
  ): Promise<void> {
    const commit = await this.commitAt(from, seq);
    if (commit) {
      await this.workspaces.seed(
        to,
        await this.exports.open(from, { format: 'tar', commit }, { wake: true }),
      );
      return;
    }
    const source = await this.workspaces.source(from, workspace);
    if (source) await this.workspaces.seed(to, await source());
  }

  /** The commit that holds the files as they were at `seq`; undefined when no step had changed them. */
  private async commitAt(session: string, seq: number): Promise<string | undefined> {
    const last = await this.store.latest(session, 'commit', seq);
    if (last && isFact(last, 'commit')) return last.args.commit;
    const first = await this.store.first(session, 'commit');
    return first && isFact(first, 'commit') ? (first.args.parent ?? undefined) : undefined;
  }

  private async checkedStep(session: string, seq: number): Promise<SessionSummary> {
    const summary = await this.log.summary(session);
    if (seq <= summary.lastSeq) return summary;
    throw new AppError('invalid_input', `The log has ${summary.lastSeq} steps, not ${seq}.`);
  }
}

/** How many bytes of each terminal the results in these events speak of. */
function printedUpTo(events: readonly Event[]): Map<string, number> {
  const printed = new Map<string, number>();
  for (const event of events) {
    if (!isFact(event, 'result')) continue;
    const { terminal, to } = (event.args.output ?? {}) as { terminal?: unknown; to?: unknown };
    if (typeof terminal !== 'string' || typeof to !== 'number') continue;
    printed.set(terminal, Math.max(to, printed.get(terminal) ?? 0));
  }
  return printed;
}

import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AppError,
  changedDefaults,
  fact,
  isEnded,
  type Event,
  type EventArgs,
  type NewEvent,
  type NewMessage,
  type newSession,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import { McpServers } from '../mcp/mcp-servers.js';
import { ModelGateway } from '../models/model-gateway.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { SettingsStore } from '../settings/settings.store.js';
import { BlobStore } from '../logs/blob-store.js';
import { EventLog } from '../logs/event-log.js';
import { isDiskFull } from '../logs/stalls.js';
import { Exports } from './exports.js';
import { Launcher } from './launcher.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { WorkspaceStore } from './workspace.store.js';

/** How long a stopped agent has to write down its last changes. */
const stopMs = 5_000;

/** A blob that was stored so lately may be about to be named by another session. */
const freshMs = 10 * 60_000;

export type RemovedListener = (session: string) => void;

/** What a person does with sessions: each becomes events of the log, and the sandbox follows. */
@Injectable()
export class SessionService {
  private readonly removed = new Set<RemovedListener>();

  constructor(
    private readonly log: EventLog,
    private readonly terminals: TerminalLog,
    private readonly models: ModelGateway,
    private readonly sandboxes: SandboxService,
    private readonly workspaces: WorkspaceStore,
    private readonly launcher: Launcher,
    private readonly exports: Exports,
    private readonly defaults: SettingsStore,
    private readonly mcp: McpServers,
    private readonly blobs: BlobStore,
  ) {}

  /**
   * Checks model and workspace first: a session that cannot begin is not made. What was not said comes from the
   * server's settings, and is the session's own from then on.
   */
  async create(wanted: z.output<typeof newSession>): Promise<SessionSummary> {
    const defaults = changedDefaults(await this.defaults.read(), wanted);
    await this.models.check(wanted.model, defaults.budgets);
    await this.workspaces.check(wanted.workspace);
    const { tools, missing } = await this.mcp.toolsFor(wanted.mcp);
    const settings = { ...wanted, ...defaults, mcp: tools };
    const id = newSessionId();
    const without = missing.map((args) => fact('server', 'mcp', { args, message: args.error }));
    await this.log.create(id, settings, { events: [startFact(settings, false), ...without] });
    this.launcher.launch(id);
    return this.log.summary(id);
  }

  /** All sessions, the newest first. */
  async list(): Promise<SessionSummary[]> {
    const all = await this.log.summaries();
    return all.toSorted((a, b) => b.created.localeCompare(a.created) || b.id.localeCompare(a.id));
  }

  summary(id: string): Promise<SessionSummary> {
    return this.log.summary(id);
  }

  async events(id: string, range: { after: number; limit?: number }): Promise<Event[]> {
    await this.log.summary(id);
    return this.log.read(id, range);
  }

  /** To a session that has ended it is also the word to go on. */
  async message(id: string, message: NewMessage): Promise<void> {
    const said = fact('user', 'message', { args: message, message: message.text });
    let startsAgain = false;
    await this.log.append(id, ({ state }, settings) => {
      startsAgain = isEnded(state);
      return startsAgain ? [startFact(settings, true), said] : [said];
    });
    if (startsAgain) await this.goOn(id);
  }

  async pause(id: string): Promise<void> {
    await this.log.append(id, (summary) => {
      refuseEnded(summary);
      return summary.state === 'paused' ? [] : [bare('pause', 'Paused.')];
    });
  }

  async resume(id: string): Promise<void> {
    await this.log.append(id, (summary) => {
      refuseEnded(summary);
      return summary.state === 'paused' ? [bare('resume', 'Goes on.')] : [];
    });
  }

  /**
   * Stopping what has ended changes nothing. The sandbox ends in the background; its files stay. A full disk hinders
   * nobody from stopping: that is stored when there is room.
   */
  async stop(id: string): Promise<void> {
    const stop = () =>
      this.log.append(id, ({ state }) =>
        isEnded(state) ? [] : [bare('stop', 'Stopped by a person.')],
      );
    try {
      const events = await stop();
      if (events.length > 0) void this.halt(id);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      void this.halt(id);
      void this.log.stalls.stopWhenRoom(id, stop).catch(ignore);
    }
  }

  /** Starts an ended session again, from its log, in a fresh sandbox with its files. */
  async restart(id: string): Promise<void> {
    const { model, budgets } = await this.log.summary(id);
    await this.models.check(model, budgets);
    await this.log.append(id, ({ state }, settings) => {
      if (!isEnded(state)) {
        throw new AppError('conflict', `The session is ${state}: stop it before a restart.`);
      }
      this.launcher.relieve(id);
      return [startFact(settings, true)];
    });
    this.launcher.launch(id);
  }

  /** Starts the sandbox of an ended session, if it is gone, so that its files can be read and changed. */
  async wake(id: string): Promise<void> {
    if (isEnded((await this.log.summary(id)).state)) await this.launcher.wakeIfGone(id);
  }

  async change(id: string, change: EventArgs<'change'>): Promise<SessionSummary> {
    const names = Object.keys(change).join(', ');
    const message = `Changed ${names}.`;
    if (names) await this.log.append(id, [fact('user', 'change', { args: change, message })]);
    return this.log.summary(id);
  }

  /** Deletes the session with its container, its files and its logs. */
  async remove(id: string): Promise<void> {
    await this.log.append(id, ({ state }) =>
      isEnded(state) ? [] : [bare('stop', 'Stopped to be deleted.')],
    );
    const { workspace } = await this.log.settings(id);
    await this.launcher.discard(id);
    const blobs = await this.log.remove(id);
    await this.blobs.removeUnused(blobs, Date.now() - freshMs);
    if (workspace && !(await this.isUsed(workspace))) await this.workspaces.remove(workspace);
    await this.terminals.remove(id);
    await this.exports.remove(id);
    await this.workspaces.removeSeed(id);
    for (const listener of this.removed) listener(id);
  }

  onRemoved(listener: RemovedListener): () => void {
    this.removed.add(listener);
    return () => void this.removed.delete(listener);
  }

  private async isUsed(workspace: string): Promise<boolean> {
    for (const { id } of await this.log.summaries()) {
      if ((await this.log.settings(id)).workspace === workspace) return true;
    }
    return false;
  }

  /** An agent that is still there is simply spoken to; else it begins again from the log. */
  private async goOn(id: string): Promise<void> {
    if (this.sandboxes.state(id) !== 'connected' || this.launcher.isHalting(id)) {
      this.launcher.launch(id);
      return;
    }
    this.launcher.keep(id);
    await this.launcher.become(id, 'running', null);
  }

  private async halt(id: string): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, stopMs).unref());
    const kept = () => Promise.race([this.exports.keepPatch(id).catch(ignore), late]);
    await this.launcher.halt(id, kept).catch(ignore);
  }
}

/** Ids are short enough for a path and a label, and sort by time. */
export function newSessionId(): string {
  const time = Date.now().toString(36).padStart(9, '0');
  return `${time}-${randomUUID().slice(0, 8)}`;
}

export function startFact(settings: SessionSettings, again: boolean): NewEvent {
  const message = again ? 'The session starts again.' : settings.task;
  return fact('user', 'start', { args: { ...settings, again }, message });
}

const bare = (action: 'pause' | 'resume' | 'stop', message: string): NewEvent =>
  fact('user', action, { args: {}, message });

function refuseEnded({ state }: SessionSummary): void {
  if (isEnded(state)) {
    throw new AppError('conflict', `The session is ${state}: restart it or write to it.`);
  }
}

/** The sandbox is ending anyway; what fails then is said when its files are asked for. */
const ignore = (): void => undefined;

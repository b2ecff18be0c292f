import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AppError,
  newEvent,
  sentWorkspace,
  type NewEvent,
  type newSession,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import type { Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import { ModelGateway } from '../models/model-gateway.js';
import { NewSettings } from './new-settings.js';
import { NewWorkspaces, type BeginningFiles } from './new-workspaces.js';
import { SessionBeginners } from './session-beginners.js';
import { StartQueue } from './start-queue.js';

const isPlayed = /^(scripted|cassette):/;

/** New sessions. */
@Injectable()
export class SessionCreation {
  constructor(
    private readonly log: EventLog,
    private readonly beginners: SessionBeginners,
    private readonly settings: NewSettings,
    private readonly workspaces: NewWorkspaces,
    private readonly queue: StartQueue,
    private readonly models: ModelGateway,
  ) {}

  /**
   * The first model that is ready, for a session that names none. A demo plays its own task, so it is one only for a
   * session without a task.
   */
  async readyModel({ forTask = true }: { forTask?: boolean } = {}): Promise<string> {
    const choices = await this.models.choices();
    const found = choices.find(({ ready, name }) => ready && !(forTask && isPlayed.test(name)));
    if (found) return found.name;
    throw new AppError(
      'conflict',
      'No model is ready. Name one as provider:model, or set one up in the dashboard: Settings → Models.',
    );
  }

  /** Throws what `create` would throw of the caller, the model and the settings, and makes nothing. */
  async check(wanted: z.output<typeof newSession>, caller: Caller): Promise<void> {
    await this.beginners.assertMayBegin(caller, wanted);
    await this.settings.of(wanted);
  }

  /**
   * Checks model and workspace first: a session that cannot begin is not made. What the request leaves out comes from
   * the server’s settings, and is the session’s own from then on. A `paused` one has a sandbox, and its agent takes no
   * step of its own until it is resumed.
   */
  async create(
    wanted: z.output<typeof newSession>,
    caller: Caller,
    id = newSessionId(),
    { paused = false, comparison, files }: CreationOptions = {},
  ): Promise<SessionSummary> {
    await this.beginners.assertMayBegin(caller, wanted);
    const { settings: others, missing } = await this.settings.of(wanted);
    const { repository: _, ...rest } = others;
    const begins = files
      ? this.workspaces.shared(id, files, caller)
      : await this.workspaces.of(id, wanted, caller);
    const settings = { ...rest, ...begins };
    const without = missing.map((args) => newEvent('server', 'mcp', { args, message: args.error }));
    await this.beginners.record(id, caller);
    const begin = [startEvent(settings, false), ...(paused ? [pauseEvent()] : []), ...without];
    await this.log.create(id, settings, { events: begin, ...(comparison && { comparison }) });
    this.queue.add(id, { sendsWorkspace: settings.workspace === sentWorkspace });
    return this.log.summary(id);
  }
}

interface CreationOptions {
  paused?: boolean;
  comparison?: string;
  /** What several sessions begin with, of `NewWorkspaces.forSeveral`. */
  files?: BeginningFiles;
}

/** Ids are short enough for a path, a label and a container’s name, and sort by time. */
export function newSessionId(): string {
  const time = Date.now().toString(36).padStart(9, '0');
  return `${time}-${randomUUID().slice(0, 8)}`;
}

const pauseEvent = (): NewEvent => newEvent('user', 'pause', { args: {}, message: 'Paused.' });

export function startEvent(settings: SessionSettings, again: boolean): NewEvent {
  const message = again ? 'The session is restarting.' : settings.task;
  return newEvent('user', 'start', { args: { ...settings, again }, message });
}

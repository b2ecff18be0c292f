import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  isPlayedModel,
  newEvent,
  sentWorkspace,
  type Event,
  type NewEvent,
  type newSession,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import { assertMay, type Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import { ModelGateway } from '../models/model-gateway.js';
import { KeyedMutex } from '../storage/keyed-mutex.js';
import { assertMayUseProfile } from './assert-may-use-profile.js';
import { NewSettings, type PlacedSession } from './new-settings.js';
import { NewWorkspaces, type BeginningFiles } from './new-workspaces.js';
import { SessionBeginners } from './session-beginners.js';
import { pauseEvent, startEvent } from './start-event.js';
import { SessionPlacement } from './session-placement.js';

/** Creates sessions. */
@Injectable()
export class SessionCreation {
  readonly #creating = new KeyedMutex();

  constructor(
    private readonly log: EventLog,
    private readonly beginners: SessionBeginners,
    private readonly settings: NewSettings,
    private readonly workspaces: NewWorkspaces,
    private readonly placement: SessionPlacement,
    private readonly models: ModelGateway,
  ) {}

  /**
   * The first available model, for a session that names none. A demo model plays its own task, so it is used only for
   * a session without a task.
   */
  async readyModel({ forTask = true }: { forTask?: boolean } = {}): Promise<string> {
    const choices = await this.models.choices();
    const found = choices.find(({ ready, name }) => ready && !(forTask && isPlayedModel(name)));
    if (found) return found.name;
    throw new AppError(
      'conflict',
      'No model is ready. Name one as provider:model, or set one up in the dashboard: Settings → Models.',
    );
  }

  /** Throws the errors that `create` would throw for the caller, the model and the settings, and creates nothing. */
  async check(given: z.output<typeof newSession>, caller: Caller): Promise<void> {
    const wanted = inSandboxOf(caller, given);
    await this.beginners.assertMayBegin(caller, wanted);
    await this.settings.of(wanted, caller);
  }

  /**
   * Checks model and workspace first, so that a session that cannot begin is never created. Settings missing in the
   * request come from the server and stay with the session. A `paused` session has a sandbox, but its agent takes no
   * step until it is resumed. With the id of a session that the caller has created before, it returns that one.
   */
  async create(
    given: z.output<typeof newSession>,
    caller: Caller,
    id?: string,
    options: CreationOptions = {},
  ): Promise<SessionSummary> {
    if (id === undefined) return this.#create(newSessionId(), given, { ...options, caller });
    return this.#creating.run(id, async () => {
      const earlier = await this.find(id, caller);
      return earlier ?? this.#create(id, given, { ...options, caller });
    });
  }

  /** Undefined if it does not exist yet. Throws `not_found` for another caller’s. */
  async find(id: string, caller: Caller): Promise<SessionSummary | undefined> {
    const found = await this.log.summary(id).catch((error: unknown) => {
      if (errorFrom(error).code === 'not_found') return undefined;
      throw error;
    });
    if (found) assertMay(caller, 'operate', id);
    return found;
  }

  async #create(
    id: string,
    given: z.output<typeof newSession>,
    {
      caller,
      paused = false,
      comparison,
      files,
      earlier,
      message,
      stays = false,
    }: CreationOptions & { caller: Caller },
  ): Promise<SessionSummary> {
    const wanted = inSandboxOf(caller, given);
    await this.beginners.assertMayBegin(caller, wanted);
    const { settings: others, missing } = await this.settings.of(wanted, caller);
    const { repository: _, ...rest } = others;
    const begins = files ?? (await this.workspaces.of(wanted, caller));
    const settings = { ...rest, ...begins };
    const without = missing.map((args) => newEvent('server', 'mcp', { args, message: args.error }));
    await this.beginners.record(id, caller, settings);
    const begin = [
      startEvent(settings, earlier !== undefined),
      ...(paused ? [pauseEvent()] : []),
      ...without,
      ...(message === undefined ? [] : [messageEvent(message)]),
    ];
    await this.log.create(id, settings, {
      events: begin,
      ...(comparison && { comparison }),
      ...(earlier && { copied: { from: null, events: earlier(settings) } }),
    });
    await this.placement.begin(id, {
      caller,
      sendsWorkspace: settings.workspace === sentWorkspace,
      stays: stays || comparison !== undefined || files !== undefined,
    });
    return this.log.summary(id);
  }
}

interface CreationOptions {
  paused?: boolean;
  comparison?: string;
  /** The shared initial files of several sessions, from `NewWorkspaces.forSeveral`. */
  files?: BeginningFiles;
  /** The events that the log begins with, which happened elsewhere; the session then starts again after them. */
  earlier?: (settings: SessionSettings) => Event[];
  /** A message that it starts with. */
  message?: string | undefined;
  /** Whether this server follows its work, so that no other one may have it. */
  stays?: boolean;
}

let lastTime = 0;

/** Ids are short enough for a path, a label and a container’s name, and sort by time, also within a millisecond. */
export function newSessionId(): string {
  lastTime = Math.max(Date.now(), lastTime + 1);
  const time = lastTime.toString(36).padStart(9, '0');
  return `${time}-${randomUUID().slice(0, 8)}`;
}

const messageEvent = (text: string): NewEvent =>
  newEvent('user', 'message', { args: { text }, message: text });

/** What a session does not choose itself is as its caller’s token says. Throws `forbidden` for more rights than those. */
function inSandboxOf(caller: Caller, wanted: z.output<typeof newSession>): PlacedSession {
  const usual = caller.sandbox;
  const sandbox = wanted.sandbox ?? usual?.profile ?? 'hardened';
  assertMayUseProfile(caller, sandbox);
  return {
    ...wanted,
    machine: wanted.machine ?? usual?.machine ?? null,
    image: wanted.image ?? usual?.image ?? null,
    sandbox,
  };
}

import type { Duplex } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { RunningProgram } from '@belay/containers';
import { AppError, type ActionOutput, type SessionAction } from '@belay/protocol';
import { inTime, untilAborted } from '@belay/rpc';
import { BlobStore } from '../logs/blob-store.js';
import { lease } from '../storage/lease.js';
import { actionArguments } from './action-arguments.js';
import { ActionContainers } from './containers/action-containers.js';
import type { PulledImage } from './containers/action-images.js';
import { ActionInstaller } from './action-installer.js';
import { actionOutputOf, assertRan, withRefusedConnections } from './action-output.js';
import { checkInput } from './check-input.js';
import { InstalledActions } from './installed-actions.js';
import { readLeftFiles, type LeftFiles } from './left-files.js';
import { mostPrinted, PrintedOutput } from './printed-output.js';
import { PulledImages } from './pulled-images.js';
import { SkillReader } from './skill-reader.js';

export interface ActionCall {
  action: Pick<SessionAction, 'name' | 'image' | 'inputSchema' | 'kind'>;
  input: Record<string, unknown>;
  /** Null for a call without a session, which sees no workspace. */
  session: string | null;
  signal: AbortSignal;
  /** Called with standard output as it is printed. */
  onOutput?(text: string): void;
}

/** Calls that may run at the same time on this server. */
const mostAtOnce = 16;
/** The start limit is long because images of services may have to be pulled. */
const startSeconds = 600;
/** How long files may take to arrive after the program’s end. */
const filesTimeoutMs = 20_000;
const mostRefusals = 10;

/** Runs each call of an action in a container of its own, which is removed with the call. */
@Injectable()
export class ActionRunner {
  #running = 0;

  constructor(
    private readonly installed: InstalledActions,
    private readonly containers: ActionContainers,
    private readonly blobs: BlobStore,
    private readonly skills: SkillReader,
    private readonly pulled: PulledImages,
    private readonly installer: ActionInstaller,
  ) {}

  /** Throws a sentence: `invalid_input`, `timeout`, `tool_failed`, `unavailable`…; when `signal` aborts, its reason. */
  async run(call: ActionCall): Promise<ActionOutput> {
    const { name, kind } = call.action;
    this.check(call);
    if (kind === 'skill') return this.skills.read(call);
    if (this.#running >= mostAtOnce)
      throw new AppError(
        'unavailable',
        `${mostAtOnce} action calls are already running. Try again in a moment.`,
      );
    this.#running += 1;
    try {
      return await this.#run(call);
    } finally {
      this.#running -= 1;
      // The server that leads installs actions: another one does not know what an install is about to need.
      if (lease.isHeld && !this.installed.has(name)) void this.installer.removeUnneeded();
    }
  }

  /** Throws what `run` would throw before it starts anything. */
  check({
    action: { name, image, inputSchema, kind },
    input,
  }: Pick<ActionCall, 'action' | 'input'>) {
    checkInput(name, inputSchema, input);
    if (kind !== 'skill') this.installed.programOf(name, image);
  }

  async #run({ action, input, session, signal, onOutput }: ActionCall): Promise<ActionOutput> {
    const { name } = action;
    const program = this.installed.programOf(name, action.image);
    const { timeout_seconds: seconds, memory_mb: memoryMb } = program.permissions;
    const secrets = this.installed.secretsOf(name);
    const refusals = new Set<string>();
    let left: Promise<LeftFiles> | undefined;
    const timer = new AbortController();
    const abortAfter = (time: number, what: string) => {
      const late = new AppError('timeout', `${what} took more than ${time} s.`);
      return setTimeout(() => timer.abort(late), time * 1_000).unref();
    };
    let timeout = abortAfter(startSeconds, `The start of the action ${name}`);
    const limit = AbortSignal.any([signal, timer.signal]);
    const begun = performance.now();
    try {
      const run = {
        name,
        session,
        program,
        secrets,
        args: actionArguments(input),
        onRefused: (reason: string) => void (refusals.size < mostRefusals && refusals.add(reason)),
        onPulled: (image: PulledImage) => this.pulled.add(image),
        fail: (error: AppError) => timer.abort(error),
        takeFiles: (stream: Duplex) =>
          void (left ? stream.destroy() : (left = readLeftFiles(stream))),
      };
      const running = await this.containers.start(run, limit);
      clearTimeout(timeout);
      timeout = abortAfter(seconds, `The action ${name}`);
      const printed = new PrintedOutput();
      const end = await untilEnd(running, { name, input, printed, onOutput, limit });
      const lastOutput = printed.errors.trim().split('\n').at(-1)?.slice(0, 500) ?? '';
      const exitCode = assertRan(name, end, { memoryMb, lastOutput });
      return await actionOutputOf(
        {
          printed,
          exitCode,
          left: (await arrived(left)) ?? { files: [], fault: null },
          seconds: (performance.now() - begun) / 1_000,
          refusals: [...refusals],
          secrets: Object.values(secrets),
        },
        (bytes, type) =>
          session === null ? this.blobs.put(bytes, type) : this.blobs.putOf(session, bytes, type),
      );
    } catch (error) {
      throw withRefusedConnections(error, [...refusals]);
    } finally {
      clearTimeout(timeout);
    }
  }
}

interface Following {
  name: string;
  input: Record<string, unknown>;
  printed: PrintedOutput;
  onOutput: ActionCall['onOutput'];
  limit: AbortSignal;
}

/**
 * Throws when the program prints too much or the limit aborts; its container is then removed without further waiting.
 */
async function untilEnd(running: RunningProgram, following: Following) {
  const { name, input, printed, onOutput, limit } = following;
  running.input.end(`${JSON.stringify(input)}\n`);
  const follow = async () => {
    for await (const piece of running.output) {
      if (!printed.add(piece))
        throw new AppError(
          'tool_failed',
          `The action ${name} printed more than ${mostPrinted / 2 ** 20} MiB and was stopped.`,
        );
      if (!piece.isError) onOutput?.(piece.data.toString());
    }
    return running.ended;
  };
  try {
    return await untilAborted(limit, follow());
  } catch (error) {
    void running.stop();
    throw error;
  }
}

/** Files that have not arrived in time are not waited for. */
async function arrived(left: Promise<LeftFiles> | undefined): Promise<LeftFiles | undefined> {
  const late = { files: [], fault: 'Its files did not arrive in time.' };
  return left && inTime(left, filesTimeoutMs, () => late);
}

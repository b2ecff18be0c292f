import { createReadStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { AppError, errorFrom, ignoreError } from '@belay/protocol';
import type { ProgramContainer, ProgramEnd } from './program-container.js';
import type { ContainerChange, TaskContainer, TaskExit, TaskSpec, TaskState } from './task-host.js';
import { taskUser, taskUserScript, type TaskUser } from './task-user.js';

const runtime = '/opt/belay';
/** What is kept of the output of a command. */
const outputBytes = 32 * 2 ** 20;
/** A change shows the time of the kernel’s last tick, which may be this much earlier, in ms. */
const tickMs = 20;
/** The exit code of a killed program, as a shell reports it. */
const killedCode = 137;

/** What makes a snapshot of its image: what is removed, and then the tar in a file of this process. */
export interface AddedFiles {
  removed: readonly string[];
  file: string;
}

export interface ProgramTaskOptions {
  container: ProgramContainer;
  spec: TaskSpec;
  /** All paths of the image, or of the snapshot that it stands for. */
  imagePaths(): Promise<ReadonlySet<string>>;
}

/** A container of a task in which the starter runs the task’s command, and reads what it has left. */
export class ProgramTask implements TaskContainer {
  readonly #container: ProgramContainer;
  readonly #spec: TaskSpec;
  readonly #output: Buffer[] = [];
  #user: TaskUser | undefined;
  /** When nothing was there but the image, and nothing but the image or the snapshot, in ms. */
  #created: number | undefined;
  #began: number | undefined;
  #isLost = false;

  constructor(private readonly options: ProgramTaskOptions) {
    this.#container = options.container;
    this.#spec = options.spec;
  }

  get id(): string {
    return this.#container.spec.id;
  }

  get spec(): TaskSpec {
    return this.#spec;
  }

  /** Puts the files of a snapshot and of the task into a new container. */
  async prepare(snapshot: AddedFiles | undefined): Promise<void> {
    if (snapshot) {
      const removed = Readable.from([snapshot.removed.join('\0')]);
      await this.#own([`${runtime}/node`, '-e', removing], removed);
      this.#created = await this.#unpack(createReadStream(snapshot.file));
      // What changes later is of this task.
      await delay(2 * tickMs);
    }
    const { user, workdir, archive } = this.#spec;
    this.#began = await this.#unpack(Readable.from([archive]));
    this.#created ??= this.#began;
    const named = [user ?? 'root', workdir ?? '/'];
    const found = await this.#own([`${runtime}/node`, '-e', taskUserScript, '--', ...named]);
    this.#user = taskUser.parse(JSON.parse(found));
  }

  async run(seconds: number, signal: AbortSignal): Promise<TaskExit> {
    signal.throwIfAborted();
    const { command, env } = this.#command();
    const running = await this.#container.run({
      command,
      folder: this.#spec.workdir ?? '/',
      env,
      egress: false,
      services: {},
      output: null,
    });
    let timedOut = false;
    const kill = (): void => void running.input.destroy();
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, seconds * 1_000);
    signal.addEventListener('abort', kill, { once: true });
    if (signal.aborted) kill();
    running.input.end();
    try {
      let kept = 0;
      for await (const { data } of running.output) {
        this.#output.push(data);
        kept += data.length;
        while (kept - (this.#output[0]?.length ?? 0) > outputBytes)
          kept -= this.#output.shift()?.length ?? 0;
      }
      const end = await running.ended;
      signal.throwIfAborted();
      return { exitCode: this.#codeOf(end, await running.left), timedOut };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
    }
  }

  async output(): Promise<string> {
    return Buffer.concat(this.#output).toString();
  }

  async tail(lines: number): Promise<string> {
    const all = (await this.output()).split(/(?<=\n)/);
    return all.slice(-lines).join('');
  }

  async start(): Promise<void> {
    throw noServices();
  }

  async state(): Promise<TaskState> {
    throw noServices();
  }

  async exec(): Promise<TaskExit & { output: string }> {
    throw noServices();
  }

  async archiveOf(path: string): Promise<Readable | undefined> {
    if (this.#isLost) return undefined;
    try {
      return await this.#container.open('program.archive', { path });
    } catch (error) {
      if (errorFrom(error).code === 'not_found') return undefined;
      throw error;
    }
  }

  async changes(): Promise<ContainerChange[]> {
    if (this.#isLost)
      throw new AppError(
        'too_large',
        'The container ran out of memory or disk, and nothing of it is left.',
      );
    const since = (this.#began ?? 0) - tickMs;
    const [before, after] = [await this.options.imagePaths(), await this.listing(since)];
    const changed = [...after].flatMap(([path, isChanged]): ContainerChange[] =>
      isChanged ? [{ path, kind: before.has(path) ? 'modified' : 'added' }] : [],
    );
    // What was in a removed folder goes with it.
    const removed = [...before].filter((path) => !after.has(path) && isIn(after, parentOf(path)));
    return [...changed, ...removed.map((path): ContainerChange => ({ path, kind: 'removed' }))];
  }

  /** A tar of all that was made or changed since nothing was there but the image. */
  allAdded(): Promise<Readable> {
    const since = (this.#created ?? 0) - tickMs;
    return this.#container.open('program.archive', { path: '/', since });
  }

  /** All of its paths, each with whether it was changed since then. */
  async listing(since?: number): Promise<Map<string, boolean>> {
    const lines = await text(await this.#container.open('program.listing', { since }));
    return new Map(
      lines
        .split('\0')
        .slice(0, -1)
        .map((line) => [line.slice(1), line.startsWith('+')]),
    );
  }

  remove(): Promise<void> {
    return this.#container.remove();
  }

  #command(): { command: [string, ...string[]]; env: Record<string, string> } {
    const { command, entrypoint, user, workdir, env } = this.#spec;
    const [first, ...rest] = [...(entrypoint ?? []), ...(command ?? [])];
    if (first === undefined || entrypoint === null || user === null || workdir === null)
      throw new AppError(
        'unavailable',
        'A program, a user and a folder that the image chooses are not known here.',
      );
    const { home = null, ...ids } = this.#user ?? { uid: null, gid: null, groups: [] };
    return {
      command: [...asUser(user, ids), first, ...rest] as [string, ...string[]],
      env: { ...(home !== null && { HOME: home }), ...env },
    };
  }

  /** Throws `unavailable` for a container that ended by itself. One that was ended for its limits loses its files. */
  #codeOf({ code, outOfMemory = false, wroteTooMuch = false }: ProgramEnd, left: number): number {
    this.#isLost = code === undefined && (outOfMemory || wroteTooMuch);
    if (this.#isLost) return killedCode;
    if (code === undefined)
      throw new AppError('unavailable', 'The container ended while its task ran.');
    if (left > 0)
      throw new AppError('unavailable', `${left} processes of the task could not be ended.`);
    return code;
  }

  /** Returns when it began, by the clock of the container in ms. */
  async #unpack(tar: Readable): Promise<number> {
    return Number(await this.#own([`${runtime}/node`, '-e', unpacking], tar));
  }

  /** Runs a program of the runtime; throws with what it has printed when it fails. */
  async #own(command: [string, ...string[]], input = Readable.from([])): Promise<string> {
    const running = await this.#container.run({
      command,
      folder: '/',
      env: {},
      egress: false,
      services: {},
      output: null,
    });
    const sent = pipeline(input, running.input);
    sent.catch(ignoreError('its exit code says more'));
    const printed = { out: '', errors: '' };
    for await (const { isError, data } of running.output)
      printed[isError ? 'errors' : 'out'] += data.toString();
    const { code } = await running.ended;
    if (code === 0) return printed.out;
    throw new AppError(
      'unavailable',
      `The task’s container could not be prepared: ${printed.errors.trim().slice(-400)}`,
    );
  }
}

const removing = `
const { readFileSync, rmSync } = require('node:fs');
for (const path of readFileSync(0, 'utf8').split('\\0').filter(Boolean))
  rmSync(path, { recursive: true, force: true });
`;
/** Prints the time before. */
const unpacking = `
const { spawnSync } = require('node:child_process');
process.stdout.write(String(Date.now()));
const given = ['-xpf', '-', '-C', '/', '--numeric-owner'];
process.exitCode = spawnSync('${runtime}/tar', given, { stdio: ['inherit', 'ignore', 'inherit'] }).status ?? 1;
`;

/** The words before a command that make it the user’s. Throws for one whom the image does not have. */
function asUser(
  name: string,
  { uid, gid, groups }: Pick<TaskUser, 'gid' | 'groups' | 'uid'>,
): string[] {
  if (uid === null || gid === null)
    throw new AppError('invalid_input', `The image has no user ${name}.`);
  if (uid === 0 && gid === 0) return [];
  const others = groups.length > 0 ? `--groups=${groups.join(',')}` : '--clear-groups';
  return [`${runtime}/setpriv`, `--reuid=${uid}`, `--regid=${gid}`, others, '--'];
}

const noServices = (): AppError =>
  new AppError('unavailable', 'Pods of a cluster have no services of a benchmark beside them.');

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const isIn = (paths: ReadonlyMap<string, boolean>, folder: string): boolean =>
  folder === '' || paths.has(folder);

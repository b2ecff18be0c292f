import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ContainerHost } from '@belay/containers';
import {
  AppError,
  visibleText,
  type JudgedClaim,
  type Reproduction,
  type RerunReport,
  type RerunState,
} from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';
import { Config } from '../../config.js';
import { BlobStore } from '../../logs/blob-store.js';
import { EventLog } from '../../logs/event-log.js';
import type { TimedEnd } from './end-of-run.js';
import { judgeCheck, judgeReproduction, type RunCommand } from './judge-claims.js';
import { RerunSandboxes, type Archive, type SetupCommand } from './rerun-sandboxes.js';
import { rerunTrees, type RerunTrees } from './trees.js';
import { printsReason } from './verdict.js';

/** A change whose claims are to be judged. */
export interface WantedReruns {
  session: string;
  repository: PrivateRepository;
  /** Before the change. */
  base: string;
  /** With the change. */
  result: string;
  reproduction: Reproduction | null;
  /** The command that checks the whole, null for none; the session’s when omitted. */
  check?: string | null;
  /** The name of the image of the sandboxes; the session’s when omitted. */
  image?: string;
  /** Command lines that run tests besides the session’s check; `{files}` stands for names of files. */
  commands?: readonly string[];
  /** Globs of paths of tests, in place of the usual ones. */
  testFiles?: readonly string[];
  /** Makes what tests need and the image does not have. */
  setup?: SetupCommand;
  /** How often a reproduction is run on each tree. */
  repeat?: number;
  /** The time for each command. */
  seconds?: number;
  /** The time for all commands together; those that are left are not run. */
  totalSeconds?: number;
}

/** For all commands of a request: clients give up on one after five minutes. */
export const rerunsTimeoutSeconds = 240;
const usualSeconds = 600;
const usualRepeat = 2;
/** It may quote what a command printed. */
const maxWhy = 1_000;

/**
 * Judges what is claimed of a change: runs the named test and the session’s check again, before the change and with it.
 * It takes minutes.
 */
@Injectable()
export class Reruns {
  constructor(
    private readonly config: Config,
    private readonly host: ContainerHost,
    private readonly sandboxes: RerunSandboxes,
    private readonly blobs: BlobStore,
    private readonly log: EventLog,
  ) {}

  /**
   * A run that is not possible is part of the report. Throws `conflict` when the image changes meanwhile, `not_found` for
   * commits or an image that do not exist, `invalid_input` for a setup that fails, and when the signal aborts, its
   * reason.
   */
  async run(wanted: WantedReruns, signal: AbortSignal): Promise<RerunReport> {
    const { reproduction, repeat = usualRepeat, commands = [] } = wanted;
    const settings = await this.log.settings(wanted.session);
    const { check = settings.check, image = settings.image ?? this.config.image } = wanted;
    const id = await this.#imageId(image);
    const trees = await rerunTrees(wanted.repository, {
      ...wanted,
      files: reproduction?.files,
      signal,
    });
    const run = await this.#runner(wanted, { trees, image }, signal);
    const claims: JudgedClaim[] = [];
    if (reproduction) {
      const all = check === null ? commands : [check, ...commands];
      claims.push(await judgeReproduction(reproduction, { trees, commands: all, repeat, run }));
    }
    if (check !== null) claims.push(await judgeCheck(check, { trees, run }));
    if ((await this.#imageId(image)) !== id)
      throw new AppError('conflict', `The image ${image} changed during the reruns. Try again.`);
    const shown = claims.map((one) => ({ ...one, why: visibleText(one.why).slice(0, maxWhy) }));
    return { image: { name: image, id }, claims: shown };
  }

  async #imageId(name: string): Promise<string> {
    await this.host.images.fetch(name);
    const id = await this.host.images.id(name);
    if (id === undefined) throw new AppError('not_found', `The image ${name} does not exist.`);
    return id;
  }

  async #runner(
    wanted: WantedReruns,
    { trees, image }: { trees: RerunTrees; image: string },
    signal: AbortSignal,
  ): Promise<RunCommand> {
    const { session, repository, seconds = usualSeconds, totalSeconds = Infinity } = wanted;
    const last = performance.now() + totalSeconds * 1_000;
    const archivesOf = await this.#setUp(wanted, { trees, image }, signal);
    return async ({ on, tree, command, expects }) => {
      const files = { repository, tree, image, archives: archivesOf(on) };
      const left = (last - performance.now()) / 1_000;
      const limited = { command, seconds: Math.min(seconds, left) };
      const { seconds: took, ...end } =
        left > 0
          ? await this.sandboxes
              .run(files, limited, signal)
              .catch((error: unknown) => notStarted(error, signal))
          : noTimeLeft;
      const bytes = Buffer.from(end.output);
      const output =
        bytes.length > 0 ? await this.blobs.putFor(session, bytes, 'text/plain') : null;
      const isReasonPrinted = expects !== null && printsReason(end.output, expects);
      const { exitCode, problem } = end;
      return {
        end,
        shown: { on, tree, exitCode, seconds: Math.round(took), output, isReasonPrinted, problem },
      };
    };
  }

  /** Runs the setup on the base, and on a result that changes what is installed; returns the archives for a state. */
  async #setUp(
    { repository, setup }: WantedReruns,
    { trees, image }: { trees: RerunTrees; image: string },
    signal: AbortSignal,
  ): Promise<(on: RerunState) => Archive[]> {
    if (!setup) return () => [];
    const make = async (tree: string): Promise<Archive> => {
      // Removed with the repository.
      const path = join(repository.folder, `setup-${tree}.tar`);
      const files = { repository, tree, image, archives: [] };
      await this.sandboxes.setUp(files, { setup, to: createWriteStream(path) }, signal);
      return () => createReadStream(path);
    };
    const base = await make(trees.base);
    const result = trees.guarded === null ? base : await make(trees.result);
    return (on) => [on === 'result' ? result : base];
  }
}

const noTimeLeft: TimedEnd = {
  exitCode: null,
  output: '',
  problem: 'there was no time left for it',
  seconds: 0,
};

/** Why a sandbox could not be used is the end of its run. */
function notStarted(error: unknown, signal: AbortSignal): TimedEnd {
  signal.throwIfAborted();
  if (!(error instanceof AppError)) throw error;
  return { exitCode: null, output: '', problem: error.message.replace(/\.$/, ''), seconds: 0 };
}

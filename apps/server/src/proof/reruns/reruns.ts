import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ContainerHost } from '@belay/containers';
import {
  AppError,
  rerunSettings,
  visibleText,
  type JudgedClaim,
  type Reproduction,
  type RerunReport,
  type RerunSettings,
} from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';
import { Config } from '../../config.js';
import { BlobStore } from '../../logs/blob-store.js';
import { EventLog } from '../../logs/event-log.js';
import type { TimedEnd } from './end-of-run.js';
import { judgeCheck, judgeReproduction, type RunCommand, type WantedRun } from './judge-claims.js';
import { RerunSandboxes, type Archive } from './rerun-sandboxes.js';
import { rerunTrees, type RerunTrees } from './trees.js';
import { printsReason } from './verdict.js';

/** A change whose claims are to be judged. */
export interface WantedReruns extends RerunSettings {
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
   * commits or an image that do not exist, and when the signal aborts, its reason.
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
    const run = this.#runner(wanted, { trees, image }, signal);
    const claims: JudgedClaim[] = [];
    if (reproduction) {
      const all = check === null ? commands : [check, ...commands];
      claims.push(await judgeReproduction(reproduction, { trees, commands: all, repeat, run }));
    }
    if (check !== null) claims.push(await judgeCheck(check, { trees, run }));
    if ((await this.#imageId(image)) !== id)
      throw new AppError('conflict', `The image ${image} changed during the reruns. Try again.`);
    const shown = claims.map((one) => ({ ...one, why: visibleText(one.why).slice(0, maxWhy) }));
    const used = rerunSettings.parse(wanted);
    return {
      image: { name: image, id },
      claims: shown,
      ...(Object.keys(used).length > 0 && { settings: used }),
    };
  }

  async #imageId(name: string): Promise<string> {
    await this.host.images.fetch(name);
    const id = await this.host.images.id(name);
    if (id === undefined) throw new AppError('not_found', `The image ${name} does not exist.`);
    return id;
  }

  #runner(
    wanted: WantedReruns,
    { trees, image }: { trees: RerunTrees; image: string },
    signal: AbortSignal,
  ): RunCommand {
    const { session, repository, seconds = usualSeconds, totalSeconds = Infinity } = wanted;
    const last = performance.now() + totalSeconds * 1_000;
    const left = (): number => (last - performance.now()) / 1_000;
    const setUp = this.#setUps(wanted, { image, left }, signal);
    const endOf = async ({ on, tree, command }: Omit<WantedRun, 'expects'>): Promise<TimedEnd> => {
      // A change that decides how tests run may also change what is installed.
      const isOwn = on === 'result' && trees.guarded !== null;
      const archives = await setUp(isOwn ? trees.result : trees.base);
      if (left() <= 0) return noTimeLeft;
      const files = { repository, tree, image, archives };
      const limited = { command, seconds: Math.min(seconds, left()) };
      return this.sandboxes.run(files, limited, signal);
    };
    return async ({ expects, ...given }) => {
      const { seconds: took, ...end } = await endOf(given).catch((error: unknown) =>
        notStarted(error, signal),
      );
      const bytes = Buffer.from(end.output);
      const output =
        bytes.length > 0 ? await this.blobs.putFor(session, bytes, 'text/plain') : null;
      const isReasonPrinted = expects !== null && printsReason(end.output, expects);
      const { exitCode, problem } = end;
      const { on, tree } = given;
      return {
        end,
        shown: { on, tree, exitCode, seconds: Math.round(took), output, isReasonPrinted, problem },
      };
    };
  }

  /** Runs the setup, once for each tree, and returns what it made. */
  #setUps(
    { repository, setup }: WantedReruns,
    { image, left }: { image: string; left: () => number },
    signal: AbortSignal,
  ): (tree: string) => Promise<Archive[]> {
    const made = new Map<string, Promise<Archive[]>>();
    const make = async (tree: string): Promise<Archive[]> => {
      if (!setup) return [];
      const seconds = Math.min(setup.seconds, left());
      if (seconds <= 0) throw new AppError('unavailable', 'There was no time left for the setup.');
      // Removed with the repository.
      const path = join(repository.folder, `setup-${tree}.tar`);
      const files = { repository, tree, image, archives: [] };
      const to = createWriteStream(path);
      await this.sandboxes.setUp(files, { setup: { ...setup, seconds }, to }, signal);
      return [() => createReadStream(path)];
    };
    return (tree) => {
      const archives = made.get(tree) ?? make(tree);
      made.set(tree, archives);
      return archives;
    };
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

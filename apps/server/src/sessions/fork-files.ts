import { Injectable } from '@nestjs/common';
import {
  clonedWorkspace,
  errorFrom,
  isEvent,
  sentWorkspace,
  terminalName,
  type Event,
  type SessionSettings,
} from '@belay/protocol';
import { z } from 'zod';
import { TerminalLog } from '../logs/terminal-log.js';
import { Exports } from './exports.js';
import { LogSteps } from './log-steps.js';
import { WorkspaceStore } from './workspace.store.js';

export interface ForkSource {
  session: string;
  seq: number;
  /** The workspace that the session itself began with. */
  workspace: string | null;
  repository: SessionSettings['repository'];
  /** Its events up to `seq`. */
  events: Event[];
}

/** Copies what a fork starts with: the files as of a step, and the terminal output up to it. */
@Injectable()
export class ForkFiles {
  constructor(
    private readonly steps: LogSteps,
    private readonly terminals: TerminalLog,
    private readonly workspaces: WorkspaceStore,
    private readonly exports: Exports,
  ) {}

  /** Returns the step that the copied files belong to, if it differs from the requested one. */
  async copy(source: ForkSource, to: string): Promise<number | undefined> {
    const step = await this.#copyWorkspace(source, to);
    for (const [terminal, bytes] of printedUpTo(source.events)) {
      await this.terminals.copy(source.session, to, terminal, bytes);
    }
    return step;
  }

  /** Removes the copies for a fork that could not be created. */
  async remove(to: string): Promise<void> {
    await this.workspaces.removeSeed(to);
    await this.terminals.remove(to);
  }

  /** An agent may log commits that its history does not have; then an earlier commit is used. */
  async #copyWorkspace(
    { session, seq, workspace, repository }: ForkSource,
    to: string,
  ): Promise<number | undefined> {
    const found = await this.steps.commitsUpTo(session, seq);
    // A workspace that was streamed straight into its sandbox is stored nowhere else; its first commit has those
    // files.
    const isStraight = workspace === sentWorkspace || workspace === clonedWorkspace;
    const isSent = isStraight && found.length === 0;
    const commits = isSent ? await this.steps.firstCommit(session) : found;
    let missing: unknown;
    for (const { commit, step } of commits) {
      try {
        const files = await this.exports.open(session, { format: 'tar', commit }, { wake: true });
        await this.workspaces.seed(to, files);
        return missing === undefined ? undefined : step;
      } catch (error) {
        if (errorFrom(error).code !== 'not_found') throw error;
        missing ??= error;
      }
    }
    if (missing !== undefined) throw missing;
    const openTar = await this.workspaces.source(session, { workspace, repository });
    if (openTar) await this.workspaces.seed(to, (await openTar()).tar);
    return undefined;
  }
}

const printedTo = z.object({ terminal: terminalName, to: z.int().nonnegative() });

/** The number of bytes of each terminal that these events refer to. */
function printedUpTo(events: readonly Event[]): Map<string, number> {
  const printed = new Map<string, number>();
  for (const event of events) {
    const isResult = isEvent(event, 'result');
    if (!isResult && !isEvent(event, 'terminal')) continue;
    // The output is untrusted: the agent wrote it.
    const { data } = printedTo.safeParse(isResult ? event.args.output : event.args);
    if (!data) continue;
    const { terminal, to } = data;
    printed.set(terminal, Math.max(to, printed.get(terminal) ?? 0));
  }
  return printed;
}

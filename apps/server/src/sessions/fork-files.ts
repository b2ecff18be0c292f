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
  /** What the session itself began with. */
  workspace: string | null;
  repository: SessionSettings['repository'];
  /** Its events up to `seq`. */
  events: Event[];
}

/** Copies what a fork begins with: the files as of a step, and what its terminals had printed. */
@Injectable()
export class ForkFiles {
  constructor(
    private readonly steps: LogSteps,
    private readonly terminals: TerminalLog,
    private readonly workspaces: WorkspaceStore,
    private readonly exports: Exports,
  ) {}

  /** Returns the step whose files these are, when it is not the one asked for. */
  async copy(source: ForkSource, to: string): Promise<number | undefined> {
    const step = await this.#copyWorkspace(source, to);
    for (const [terminal, bytes] of printedUpTo(source.events)) {
      await this.terminals.copy(source.session, to, terminal, bytes);
    }
    return step;
  }

  /** Removes what was copied for a fork that could not be made. */
  async remove(to: string): Promise<void> {
    await this.workspaces.removeSeed(to);
    await this.terminals.remove(to);
  }

  /** An agent may have written of commits that its history does not have: then an earlier one counts. */
  async #copyWorkspace(
    { session, seq, workspace, repository }: ForkSource,
    to: string,
  ): Promise<number | undefined> {
    const found = await this.steps.commitsUpTo(session, seq);
    // A workspace that went straight into its sandbox is nowhere else: the first commit is what it was.
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

/** How many bytes of each terminal the results in these events speak of. */
function printedUpTo(events: readonly Event[]): Map<string, number> {
  const printed = new Map<string, number>();
  for (const event of events) {
    if (!isEvent(event, 'result')) continue;
    // An output is whatever the agent wrote.
    const { data } = printedTo.safeParse(event.args.output);
    if (!data) continue;
    const { terminal, to } = data;
    printed.set(terminal, Math.max(to, printed.get(terminal) ?? 0));
  }
  return printed;
}
